"""Unfold the weights of a file, which stores symmetric weights once, into the tables of weights.pxd."""

from libc.string cimport memcpy

from core_ext.base.large_memory cimport LargeMemory
from core_ext.eval.bonapiece cimport HALF_SQUARES, PAIRS, features, inverse_square, mirror_square
from core_ext.eval.symmetry cimport (
    KKP_PER_KING, canonical_pair, on_middle_file, kkp_index, mirrored, kpp_index, kp_index,
)

cdef enum:
    TILE = 36               # a multiple of nine divides BONAPIECES
    PIECE_BYTES = 4 * BONAPIECES
    KKP_BYTES = 2 * SQUARES * KKP_PER_KING
    KPP_BYTES = 2 * SQUARES * BONAPIECES * BONAPIECES
    TEMPO_BYTES = (2 * SQUARES + BONAPIECES) * BONAPIECES
    LARGEST_STEP = 1 << 14  # sums of weights multiplied by it fit into 32 bits


cdef inline int16_t saturated(int32_t value) noexcept nogil:
    return <int16_t>max(-32768, min(32767, value))


cdef int32_t kkp_of_king(const int16_t *kp, const int16_t *kkp, int step, int king, int other,
                         int number) noexcept nogil:
    """Return KP and KKP of a piece from the perspective of the king's colour."""
    if mirrored(king):
        king = mirror_square(king)
        other = mirror_square(other)
        number = features.mirror[number]
    return (kp[king * BONAPIECES + kp_index(king, number)]
            + step * kkp[king * KKP_PER_KING + kkp_index(king, other, number)])


cdef void unfold_kkp(int16_t *out, const int16_t *kp, const int16_t *kkp, int step) noexcept nogil:
    cdef int black, white, number
    cdef int32_t weight
    for black in range(SQUARES):
        for white in range(SQUARES):
            for number in range(1, BONAPIECES):
                weight = kkp_of_king(kp, kkp, step, black, white, number)
                weight -= kkp_of_king(kp, kkp, step, inverse_square(white), inverse_square(black),
                                      features.inverse[number])
                out[(black * SQUARES + white) * BONAPIECES + number] = saturated(weight)


cdef void unfold_lower(int16_t *out, const int16_t *pp, const int16_t *kpp, int step, int king) noexcept nogil:
    """Unfold the pairs (a, b), b < a, of one king on files 1 to 5. The diagonal and number 0, which pads, stay 0."""
    cdef int a, b, index
    for a in range(1, BONAPIECES):
        index = a * (a + 1) // 2
        for b in range(1, a):
            if on_middle_file(king):
                index = kpp_index(king, a, b) - b
            out[a * BONAPIECES + b] = saturated(pp[index + b] + step * kpp[index + b])


cdef void unfold_upper(int16_t *out) noexcept nogil:
    """Copy the pairs to the other order, a tile at a time: successive rows lie on different pages."""
    cdef int tile, left, a, b
    for tile in range(BONAPIECES // TILE):
        for left in range(tile + 1):
            for b in range(TILE * left, TILE * (left + 1)):
                for a in range(max(TILE * tile, b + 1), TILE * (tile + 1)):
                    out[b * BONAPIECES + a] = out[a * BONAPIECES + b]


cdef void unfold_mirror(int16_t *out, const int16_t *image) noexcept nogil:
    """Unfold KPP of a king on files 6 to 9 from that of its mirror image."""
    cdef int a, b
    cdef const int16_t *row
    for a in range(BONAPIECES):
        row = image + features.mirror[a] * BONAPIECES
        for b in range(BONAPIECES):
            out[a * BONAPIECES + b] = row[features.mirror[b]]


cdef void unfold_kp_tempo(int16_t *out, const int16_t *kp) noexcept nogil:
    cdef int king, number, index
    for king in range(SQUARES):
        for number in range(1, BONAPIECES):
            index = mirror_square(king) * BONAPIECES + features.mirror[number] if mirrored(king) else \
                king * BONAPIECES + kp_index(king, number)
            out[king * BONAPIECES + number] = kp[index]


cdef void unfold_pp_tempo(int8_t *out, const int16_t *pp) noexcept nogil:
    """Unfold PP; the diagonal and number 0, which pads, stay 0."""
    cdef int a, b, word
    cdef float sign
    for a in range(1, BONAPIECES):
        for b in range(1, a):
            word = max(-128, min(127, pp[canonical_pair(a, b, &sign)]))
            out[a * BONAPIECES + b] = out[b * BONAPIECES + a] = <int8_t>word


cdef int check_step(int step) except -1:
    if not 1 <= step <= LARGEST_STEP:
        raise ValueError(f"weights in steps of {step}, not 1 to {LARGEST_STEP}")
    return 0


cdef class KppWeights:
    """KPP weights, unfolded for play (about 415 MB), shared by all threads that evaluate with them.

    To load: allocate(); unfold_pieces(), unfold_tempo() and unfold_king() for every king, or fill memory(); complete().
    Until then a Worker evaluates by material. The arguments have symmetric weights once, as the weights file does, in
    1/FV_SCALE centipawn divided by their step.
    """

    def allocate(self):
        """Allocate the tables. MemoryError."""
        cdef KppTables *tables = &self.unfolded
        cdef LargeMemory pieces, kkp, kpp, tempo
        if tables.kpp == NULL:
            # A gather reads four bytes at each weight: up to three beyond the last one.
            pieces, kkp, kpp = LargeMemory(PIECE_BYTES), LargeMemory(KKP_BYTES + 2), LargeMemory(KPP_BYTES + 2)
            tempo = LargeMemory(TEMPO_BYTES + 3)
            self.blocks = pieces, kkp, kpp, tempo
            self.pieces, tables.kkp, tables.kpp = <int32_t *>pieces.start, <int16_t *>kkp.start, <int16_t *>kpp.start
            tables.kp_tempo = <int16_t *>tempo.start
            tables.pp_tempo = <int8_t *>(tables.kp_tempo + SQUARES * BONAPIECES)

    def unfold_pieces(self, const int32_t[::1] piece, const int16_t[::1] kp, const int16_t[::1] kkp, int kkp_step):
        """Unfold piece values [BONAPIECES], KP [HALF_SQUARES x BONAPIECES] and KKP [HALF_SQUARES x KKP_PER_KING], flat.

        ValueError for another size, or a step that is not 1 to LARGEST_STEP.
        """
        check_step(kkp_step)
        if (piece.shape[0] != BONAPIECES or kp.shape[0] != HALF_SQUARES * BONAPIECES
                or kkp.shape[0] != HALF_SQUARES * KKP_PER_KING):
            raise ValueError("weights of pieces have the wrong size")
        self._check_allocated()
        memcpy(self.pieces, &piece[0], PIECE_BYTES)
        self.pieces[0] = 0
        with nogil:
            unfold_kkp(self.unfolded.kkp, &kp[0], &kkp[0], kkp_step)

    def unfold_king(self, int king, const int16_t[::1] pp, const int16_t[::1] kpp, int step):
        """Unfold PP and KPP, PAIRS weights each, of one king square on files 1 to 5 (0 to 44) and its mirror image.

        May run in several threads at once, for different kings. ValueError for another king, size or step.
        """
        cdef int16_t *out
        cdef size_t square = BONAPIECES * BONAPIECES
        if not 0 <= king < HALF_SQUARES or pp.shape[0] != PAIRS or kpp.shape[0] != PAIRS:
            raise ValueError("weights of pairs have the wrong size")
        check_step(step)
        self._check_allocated()
        with nogil:
            out = self.unfolded.kpp + king * square
            unfold_lower(out, &pp[0], &kpp[0], step, king)
            unfold_upper(out)
            if not on_middle_file(king):
                unfold_mirror(self.unfolded.kpp + mirror_square(king) * square, out)

    def unfold_tempo(self, const int16_t[::1] kp, const int16_t[::1] pp, int pp_step):
        """Unfold KP [HALF_SQUARES x BONAPIECES] and PP [PAIRS], in TEMPO_STEPs. ValueError for another size or step."""
        if pp_step != TEMPO_STEP:
            raise ValueError(f"tempo pairs in steps of {pp_step}, not {TEMPO_STEP}")
        if kp.shape[0] != HALF_SQUARES * BONAPIECES or pp.shape[0] != PAIRS:
            raise ValueError("tempo weights have the wrong size")
        self._check_allocated()
        with nogil:
            unfold_kp_tempo(self.unfolded.kp_tempo, &kp[0])
            unfold_pp_tempo(self.unfolded.pp_tempo, &pp[0])

    def memory(self):
        """Return the unfolded tables, writable, as bytes: pieces, KKP, KPP, tempo."""
        self._check_allocated()
        sizes = PIECE_BYTES, KKP_BYTES, KPP_BYTES, TEMPO_BYTES
        return [memoryview(block)[:size] for block, size in zip(self.blocks, sizes)]

    def complete(self, int tempo):
        """Declare all tables filled: Workers made from now on use them. `tempo` is in 1/FV_SCALE centipawn."""
        self._check_allocated()
        memcpy(self.unfolded.piece, self.pieces, PIECE_BYTES)
        self.unfolded.tempo = tempo
        self.ready = True

    cdef int _check_allocated(self) except -1:
        if self.unfolded.kpp == NULL:
            raise ValueError("no weights were allocated")
        return 0
