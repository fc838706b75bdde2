"""Game records: KIF, KI2, CSA, JKF and USI text, read and written."""
