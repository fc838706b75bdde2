"""Training of the KPP evaluation from training positions (core_ext.corpus).

Values and weights are in units of LOGIT centipawns. A model's terms are keys of SIZES: `piece` (P), `tempo`,
`kp`, `kkp`, `kpp`, `pp`; the factorized `relative` (KP by offset) and `relative_pp` (PP by offset); and the tempo terms
`kp_tempo`, `pp_tempo` and `relative_pp_tempo`, which count for the side to move.
"""

from types import MappingProxyType

import numpy as np

from core_ext.learn import factorized as _factorized
from core_ext.learn.training_position import check_positions
from core_ext.base.large_memory cimport LargeMemory
from core_ext.eval.bonapiece cimport BONAPIECES, HALF_SQUARES, PAIRS, mirror_square
from core_ext.eval.symmetry cimport KKP_PER_KING, mirrored
from core_ext.learn.factorized cimport KINDS, OFFSETS, RELATIVE_PAIRS, ZONES, king_zone
from core_ext.learn.kpp_model cimport (
    KppModel, PairParameters, Parameter, RATES, ROW_SIZE as _ROW_SIZE, Rendezvous as RendezvousSlots, Target,
    ThreadShards, all_shards, predict, train,
)
from core_ext.learn.training_position cimport TrainingPosition
from core_ext.shogi.types cimport SQUARES, uint32_t

coalesce_pairs = _factorized.coalesce_pairs
coalesce_pieces = _factorized.coalesce_pieces
coalesce_relative_kp = _factorized.coalesce_relative_kp
coalesce_tempo_pairs = _factorized.coalesce_tempo_pairs
king_slots = _factorized.king_slots

LOGIT = 600
ROW_SIZE = _ROW_SIZE
SIZES = MappingProxyType({
    "tempo": 2, "piece": KINDS, "kp": HALF_SQUARES * BONAPIECES, "relative": OFFSETS,
    "kkp": HALF_SQUARES * KKP_PER_KING, "kpp": ZONES * <long long>PAIRS * _ROW_SIZE,
    "kp_tempo": HALF_SQUARES * BONAPIECES, "pp": PAIRS, "pp_tempo": PAIRS, "relative_pp": RELATIVE_PAIRS,
    "relative_pp_tempo": RELATIVE_PAIRS,
})
# Interleaved in memory: each pair's value parameter, then its tempo parameter.
TEMPO_OF = MappingProxyType({"pp_tempo": "pp", "relative_pp_tempo": "relative_pp"})


def king_zones():
    """Return the zone (0 to 10) of each square, for a king from its own perspective; mirror images share one."""
    return np.array([king_zone(mirror_square(king) if mirrored(king) else king) for king in range(SQUARES)])


cdef class Rendezvous:
    """Memory through which two threads exchange the sums of their shards, for one call of learn_shard by each."""

    cdef RendezvousSlots slots      # zeros at first


cdef object checked_copy(positions):
    """Return a copy of the positions, which no other thread can change. ValueError if one is damaged."""
    copy = np.array(positions, order="C")
    check_positions(copy)
    return copy


cdef class Trainer:
    """The float model. `terms` are `piece` and any others of SIZES; the tempo terms of pairs come all or none.

    ValueError for other terms, MemoryError.
    """

    cdef KppModel model
    cdef dict blocks
    cdef tuple _terms

    def __cinit__(self, terms):
        self._terms = tuple([str.__str__(name) for name in terms])
        self._check_terms()
        self.blocks = {}
        for name in self._terms:
            if name not in TEMPO_OF:
                size = sizeof(PairParameters) if name in TEMPO_OF.values() else sizeof(Parameter)
                self.blocks[name] = LargeMemory(SIZES[name] * size)
        self._set_model()

    @property
    def terms(self):
        """The names of the model's terms."""
        return self._terms

    cdef _check_terms(self):
        if "piece" not in self._terms or not set(self._terms) <= set(SIZES):
            raise ValueError(f"terms {self._terms}: 'piece' and any of {', '.join(SIZES)}")
        tempo = any(name in self._terms for name in TEMPO_OF)
        for name, pair in TEMPO_OF.items():
            if (name in self._terms) != (tempo and pair in self._terms):
                raise ValueError(f"terms {self._terms}: '{name}' and '{pair}'; tempo terms for all pairs or for none")

    cdef _set_model(self):
        self.model.tempo = <Parameter *>self._memory("tempo")
        self.model.piece = <Parameter *>self._memory("piece")
        self.model.kp = <Parameter *>self._memory("kp")
        self.model.relative = <Parameter *>self._memory("relative")
        self.model.kkp = <Parameter *>self._memory("kkp")
        self.model.kpp = <Parameter *>self._memory("kpp")
        self.model.kp_tempo = <Parameter *>self._memory("kp_tempo")
        self.model.pp = <PairParameters *>self._memory("pp")
        self.model.relative_pp = <PairParameters *>self._memory("relative_pp")
        self.model.tempo_pairs = any(name in self._terms for name in TEMPO_OF)

    cdef void *_memory(self, str name):
        return (<LargeMemory>self.blocks[name]).start if name in self.blocks else NULL

    def learn(self, positions, rates, scale: float = LOGIT, result_share: float = 0):
        """Train one epoch by Adagrad in the positions' order, without the GIL. The same calls give the same bytes.

        `rates`: learning rates of P and tempo, KP, KKP, PP, PP by king zone, KPP, PP tempo, relative PP, relative PP
        tempo. The target is the win probability of the score on a logistic of `scale` centipawns, mixed with
        `result_share` of the game's result if there is one. Returns the sum of squared errors of the win probability,
        each before its update. ValueError for a position with numbers out of range.
        """
        cdef ThreadShards shards = all_shards()
        return self._learn(&shards, positions, rates, scale, result_share)

    def learn_shard(self, shard: int, rendezvous: Rendezvous, positions, rates, scale: float = LOGIT,
                    result_share: float = 0):
        """Train as `learn` does, to the same bytes, in two threads: one calls this with shard 0, one with shard 1.

        Each waits for the other at every position: if called alone, it never returns. ValueError for another shard.
        """
        cdef ThreadShards shards
        cdef int number = shard
        if number not in (0, 1):
            raise ValueError(f"shard {number}: 0 or 1")
        shards.first = shards.last = number
        shards.rendezvous = &rendezvous.slots
        return self._learn(&shards, positions, rates, scale, result_share)

    cdef _learn(self, const ThreadShards *shards, positions, rates, float scale, float result_share):
        cdef const TrainingPosition[::1] given = checked_copy(positions)
        cdef float[RATES] chosen
        cdef Target target = [scale, result_share]
        cdef double loss = 0
        if len(rates) != RATES:
            raise ValueError(f"{len(rates)} learning rates, {RATES} expected")
        chosen = rates
        if given.shape[0]:
            with nogil:
                loss = train(&self.model, &given[0], <uint32_t>given.shape[0], shards, chosen, &target)
        return loss

    def values(self, positions):
        """Return values for Black, float32, in LOGIT centipawns. ValueError as for `learn`."""
        cdef const TrainingPosition[::1] given = checked_copy(positions)
        result = np.empty(given.shape[0], dtype=np.float32)
        cdef float[::1] out = result
        if given.shape[0]:
            with nogil:
                predict(&self.model, &given[0], &out[0], given.shape[0])
        return result

    def parameters(self, name: str):
        """Return a view of a term's weights (column 0) and Adagrad's sums of squared gradients (column 1).

        `tempo` has two rows: of games, and of positions without a game. `kpp` is [zone][pair][ROW_SIZE]: the parameter
        that the zone's kings share, then theirs, at the slots of king_slots(). Only one of a set of symmetric pairs
        (`pp`, `relative_pp` and their tempo terms) is used. KeyError if the model does not have the term.
        """
        if name not in self._terms:
            raise KeyError(name)
        block = np.asarray(self.blocks[TEMPO_OF.get(name, name)]).view(np.float32)
        if name not in TEMPO_OF and name not in TEMPO_OF.values():
            return block.reshape(-1, 2)
        return block.reshape(-1, 2, 2)[:, 1 if name in TEMPO_OF else 0]
