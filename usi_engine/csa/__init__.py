"""The CSA client: games of a USI engine on servers that speak the CSA protocol 1.2.1, such as floodgate."""
