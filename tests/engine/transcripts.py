"""Conversations that must hold with any core.

`>` sends lines, `<` waits for lines that match, ` ; ` separates them; `!` checks that no line matches for some seconds;
`|` ends the input. At the end every go must have had exactly one answer.
"""

MATE_IN_ONE = "sfen 7k1/9/7P1/9/9/9/9/9/4K4 b G 1"
MATED = "sfen 7k1/7G1/7P1/9/9/9/9/9/4K4 w - 1"
# Black's king on 5b with ten pieces beside it in the zone, 28 points and more: it may declare.
DECLARABLE = "sfen 1RBGKGBR1/1+P+P+P+P+P+P2/9/9/9/9/9/9/4k4 b 2S2N2L4P2s2n2l8p 1"
MATSURI = "sfen l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"
TRY = "sfen 9/4K4/9/9/9/9/9/9/k8 b RB2G2S2N2L9Prb2g2s2n2l9p 1"

TRANSCRIPTS = {
    # Handshake
    "usi": """
        > usi
        < ^id name Komadori \\d\\S* [A-Z]+ .* \\d+$ ; ^id author .
        < ^option name USI_Hash type spin default 256 min 1 max \\d+$
        < ^option name USI_Ponder type check default false$
        < ^option name EnteringKingRule type combo default CSARule27 var NoEnteringKing var CSARule24 ; ^usiok$""",
    "usi and isready, in any order and often": """
        > setoption name EvalFile value kpp ; usi
        < ^id name Komadori \\d\\S* KPP$ ; ^usiok$
        > setoption name EvalFile value <internal> ; setoption name EvalDir value no/such/folder/nn.bin ; usi
        < ^id name Komadori \\d\\S*$ ; ^usiok$
        > isready ; usinewgame ; isready ; isready
        < ^readyok$ ; ^readyok$ ; ^readyok$""",
    "no usi first": """
        > setoption name Threads value 2 ; isready
        < ^readyok$
        > side
        < ^black$
        > moves
        < ^([1-9][a-i][1-9][a-i] ){29}[1-9][a-i][1-9][a-i]$""",
    "go at once, without isready": """
        > go byoyomi 100
        < ^info .*multipv 1 pv ; ^bestmove [1-9]""",
    "unknown words, empty lines and spaces": """
        > hello ; xyzzy 1 2 3 ; ucinewgame ; isready
        < ^readyok$
        >
        >    isready
        < ^readyok$
        >   position   startpos    moves   7g7f
        >  side
        < ^white$""",
    "quit": """
        > usi
        < ^usiok$
        > quit""",
    "end of input": """
        > usi
        < ^usiok$
        |""",
    # setoption
    "setoption": """
        > setoption name Contempt value 10
        < ^info string .*'Contempt'
        > isready
        < ^readyok$
        > setoption name MultiPV value 3 ; getoption MultiPV
        < ^MultiPV = 3$
        > setoption Threads 3
        < ^info string setoption
        > setoption name BookFile value C:/my books/standard book.db ; getoption BookFile
        < ^BookFile = C:/my books/standard book.db$
        > setoption name USI_Ponder value true ; setoption name EnteringKingRule value tryrule ; getoption
        < ^USI_Ponder = true$ ; ^EnteringKingRule = TryRule$
        > getoption Nothing
        < ^info string .*'Nothing'""",
    "setoption during a search waits": """
        > isready
        < ^readyok$
        > go infinite ; setoption name MultiPV value 2 ; getoption MultiPV
        ! 0.05 ^MultiPV
        > stop
        < ^bestmove ; ^MultiPV = 2$""",
    "threads and hash change between games": """
        > isready ; setoption name Threads value 3 ; setoption name USI_Hash value 2 ; isready ; go byoyomi 50
        < ^readyok$ ; ^readyok$ ; ^bestmove
        > setoption name Threads value 1 ; go byoyomi 50
        < ^bestmove""",
    # go
    "go with clocks": """
        > position startpos ; go btime 1000 wtime 1000 byoyomi 200 ; position startpos moves 7g7f
        > go btime 500 wtime 500 binc 100 winc 100 ; go btime 10 wtime 10 binc 200 winc 200
        < ^bestmove [1-9] ; ^bestmove [1-9] ; ^bestmove [1-9]
        > go btime 0 wtime 0 byoyomi 0 ; go btime 0 wtime 0 binc 0 winc 0 ; go btime 0 wtime 0
        > go btime 0 wtime 0 byoyomi 100
        < ^bestmove [1-9] ; ^bestmove [1-9] ; ^bestmove [1-9] ; ^bestmove [1-9]""",
    "go with limits": """
        > go depth 3 ; go nodes 2000 ; go movetime 50 ; go movetime 0.9
        < ^info depth 3 seldepth \\d+ score cp -?\\d+ nodes \\d+ nps \\d+ hashfull \\d+ time \\d+ multipv 1 pv [1-9]
        < ^bestmove [1-9] ; ^info depth ; ^bestmove [1-9] ; ^bestmove [1-9] ; ^bestmove [1-9]""",
    "unreadable limits": f"""
        > go fast depth 2 please btime x
        < ^bestmove [1-9]
        > go depth deep movetime 30
        < ^info string go depth needs .*'deep' ; ^bestmove [1-9]
        > go byoyomi -100 btime 1e9999 depth 1
        < ^bestmove
        > position {MATSURI} ; go mate 10s
        < ^info string go mate needs milliseconds or 'infinite', not '10s'$ ; ^checkmate timeout$""",
    "go infinite answers only stop": """
        > go infinite
        < ^info depth
        ! 0.1 ^bestmove
        > stop
        < ^bestmove [1-9]
        > go
        ! 0.1 ^bestmove
        > stop
        < ^bestmove [1-9]
        > setoption name DepthLimit value 2 ; go infinite
        < ^info depth 2
        ! 0.1 ^bestmove
        > stop
        < ^bestmove [1-9]""",
    "go infinite on a decided position waits for stop": f"""
        > position {MATED} ; go infinite
        < ^info depth 0 seldepth 0 score mate -1 nodes 0 nps 0 hashfull 0 time \\d+$
        ! 0.1 ^bestmove
        > stop
        < ^bestmove resign$
        > position {MATE_IN_ONE} ; go infinite
        < ^info .* score mate 1 .* pv G\\*2b$
        ! 0.1 ^bestmove
        > stop
        < ^bestmove G\\*2b$""",
    "searchmoves": f"""
        > position startpos ; go depth 2 searchmoves 9g9f ; go depth 2 searchmoves {"9g9f " * 1000}
        < ^info depth 2 .* pv 9g9f ; ^bestmove 9g9f ; ^bestmove 9g9f( ponder|$)
        > go depth 2 searchmoves 5a5b 9a9b ; go searchmoves 5a5b 9g9f depth 2
        < ^info string .*5a5b 9a9b ; ^bestmove [1-9]
        < ^info string .*illegal moves in searchmoves, ignored: '5a5b' ; ^bestmove 9g9f
        > position sfen 4k4/9/9/6P2/9/9/9/9/4K4 b - 1 ; go depth 1 searchmoves 3d3c
        < ^info depth 1 .* pv ; ^bestmove [1-9]
        > position {MATE_IN_ONE} ; go byoyomi 100 searchmoves 5i5h
        < ^bestmove 5i5h( |$)""",
    "go ponder": """
        > position startpos moves 7g7f 3c3d ; go ponder btime 1000 wtime 1000 byoyomi 100
        ! 0.25 ^bestmove
        > ponderhit
        < ^bestmove [1-9]
        > go ponder btime 600000 wtime 600000
        ! 0.05 ^bestmove
        > ponderhit btime 100 wtime 100 byoyomi 0
        < ^bestmove [1-9]
        > go ponder ; ponderhit
        ! 0.1 ^bestmove
        > stop
        < ^bestmove [1-9]
        > go ponder depth 2
        ! 0.1 ^bestmove
        > ponderhit
        < ^bestmove [1-9]
        > go ponder btime 1000 wtime 1000
        ! 0.05 ^bestmove
        > stop
        < ^bestmove [1-9]""",
    "go ponder on a decided position waits for ponderhit": f"""
        > position {MATED} ; go ponder btime 1000 wtime 1000
        ! 0.05 ^bestmove
        > ponderhit
        < ^bestmove resign$
        > position {MATE_IN_ONE} ; go ponder btime 100000 wtime 100000
        ! 0.1 ^bestmove
        > ponderhit
        < ^bestmove G\\*2b$""",
    "stop and ponderhit when idle, stop twice": """
        > stop ; ponderhit ; stop ; isready ; go infinite ; stop ; stop
        < ^readyok$ ; ^bestmove
        ! 0.05 ^bestmove""",
    "a whole script in one piece": """
        > usi ; isready ; usinewgame ; position startpos ; go infinite ; stop
        > position startpos moves 7g7f ; go depth 1
        < ^usiok$ ; ^readyok$ ; ^bestmove ; ^bestmove""",
    "gameover": """
        > go infinite ; gameover win ; gameover ; gameover lose ; gameover draw ; isready
        < ^bestmove ; ^readyok$
        > go ponder btime 1000 wtime 1000 byoyomi 1000 ; gameover draw
        < ^bestmove""",
    "quit while pondering": """
        > go ponder btime 1000 wtime 1000 byoyomi 1000 ; quit
        < ^bestmove""",
    "end of input while pondering": """
        > go ponder btime 1000 wtime 1000 byoyomi 1000
        |
        < ^bestmove""",
    "quit with goes queued": """
        > isready ; go infinite ; quit
        < ^readyok$ ; ^bestmove""",
    "a command that ends go infinite": """
        > go infinite
        < ^info
        > isready
        < ^readyok$
        ! 0.05 ^bestmove
        > go infinite ; position startpos moves 2g2f ; go depth 1
        < ^bestmove ; ^bestmove ; ^bestmove""",
    # Answers
    "no legal move": f"""
        > position {MATED} ; go byoyomi 100
        < ^info depth 0 seldepth 0 score mate -1 nodes 0 ; ^bestmove resign$
        > position sfen 1r7/9/9/9/9/9/p8/9/K8 b - 1 ; go byoyomi 100
        < ^bestmove resign$""",
    "declarations": f"""
        > position {DECLARABLE} ; go byoyomi 100
        < ^bestmove win$
        > go depth 1 searchmoves 8b9b
        < ^bestmove 8b9b( |$)
        > go infinite
        < ^info depth 0 .*score cp \\d{{5}} nodes ; ^info string the game is won by declaration under CSARule27$
        > stop
        < ^bestmove win$
        > setoption name EnteringKingRule value NoEnteringKing ; position {DECLARABLE} ; go byoyomi 100
        < ^bestmove [1-9A-Z]
        > setoption name EnteringKingRule value TryRule ; position {TRY} ; go byoyomi 100
        < ^bestmove 5b5a$""",
    "MultiPV": """
        > setoption name MultiPV value 3 ; go depth 3
        < ^info depth 3 .* multipv 3 pv ; ^info depth 3 .* multipv 2 pv ; ^info depth 3 .* multipv 1 pv
        < ^bestmove [1-9]
        > position sfen 4k4/9/9/9/9/9/9/9/4K4 b - 1 ; setoption name MultiPV value 593 ; go depth 2
        < ^info depth 2 .* multipv 5 pv ; ^info depth 2 .* multipv 1 pv ; ^bestmove [1-9]""",
    "threads": """
        > setoption name Threads value 4 ; go byoyomi 100 ; go infinite ; stop
        < ^bestmove [1-9] ; ^bestmove""",
    "NodesLimit and DepthLimit": """
        > setoption name DepthLimit value 2 ; go btime 100000 wtime 100000
        < ^bestmove
        > setoption name DepthLimit value 0 ; setoption name NodesLimit value 500 ; go btime 100000 wtime 100000
        < ^bestmove""",
    # Positions
    "positions": """
        > position startpos moves ; sfen ; position sfen 4k4/9/9/9/9/9/9/9/4K4 w 2P ; sfen
        < ^lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1$ ; ^4k4/9/9/9/9/9/9/9/4K4 w 2P 1$
        > position sfen 4k4/9/9/9/9/9/9/9/4K4 b PpR2g 7 ; sfen
        < ^4k4/9/9/9/9/9/9/9/4K4 b RP2gp 7$
        > position startpos moves 2g2f pass 5i6h 0000 ; sfen ; go depth 1
        < ^lnsgkgsnl/1r5b1/ppppppppp/9/9/7P1/PPPPPPP1P/1B1K3R1/LNSG1GSNL b - 5$ ; ^bestmove [1-9]""",
    "positions that are refused": """
        > position startpos moves 7g7f ; position sfen 9/9/9 b - 1 ; side ; go byoyomi 100
        < ^info string position refused: . ; ^white$ ; ^info string .*refused ; ^bestmove resign$
        > position startpos ; go depth 1
        < ^bestmove [1-9]
        > position startpos moves 7g7f 3c3d 8h9i ; sfen ; go btime 1000 wtime 1000
        < ^info string position refused: move 3 '8h9i'
        < ^lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1$ ; ^bestmove resign$
        > position startpos moves ７六歩 ; isready
        < ^info string position refused: move 1 '７ ; ^readyok$""",
    "a refused position in go infinite and go mate": """
        > position startpos moves 7g7c
        < ^info string position refused
        > go infinite
        ! 0.05 ^bestmove
        > stop
        < ^bestmove resign$
        > go mate 100
        < ^checkmate timeout$""",
    "position without startpos or sfen": """
        > position startpos moves 7g7f ; position
        < ^info string position refused: an sfen has 3 or 4 fields: ''$
        > go byoyomi 100
        < ^bestmove resign$
        > position startpos ; position moves 7g7f
        < ^info string position refused: an sfen
        > go infinite ; position sfen ; go depth 1
        < ^bestmove resign$ ; ^info string position refused: an sfen ; ^bestmove resign$""",
    # Mate
    "go mate": f"""
        > position {MATE_IN_ONE} ; go mate 3000 ; position startpos ; go mate infinite
        < ^checkmate G\\*2b$ ; ^checkmate nomate$
        > position sfen 7k1/9/7P1/9/9/9/9/9/9 b G 1 ; go mate 3000
        < ^checkmate G\\*2b$
        > position {MATSURI} ; go mate infinite ; stop ; go mate nodes 100
        < ^checkmate ; ^checkmate""",
    # Questions
    "questions": f"""
        > position startpos ; d
        < ^sfen lnsgkgsnl/ ; ^key [0-9a-f]{{16}}$ ; ^checkers$
        > position startpos moves 7g7f ; side ; key ; sfen ; eval
        < ^white$ ; ^[0-9a-f]{{16}}$ ; w - 2$ ; ^total -?\\d+$
        > position {MATE_IN_ONE} ; checks ; position sfen 4k4/9/9/6P2/9/9/9/9/4K4 b - 1 ; moves
        < ^(?=.*G\\*2b) ; ^[^+]*3d3c\\+[^+]*$
        > setoption name GenerateAllLegalMoves value true ; moves
        < (3d3c .*3d3c\\+|3d3c\\+.* 3d3c( |$))""",
    "perft and bench": """
        > perft none ; perft 65 ; bench deep
        < ^info string perft needs a depth from 1 to 64, not 'none'$ ; ^info string perft .* '65'$ ; ^info string bench
        > perft 2 ; bench 1 1
        < ^2g2f 30$ ; ^nodes 900 time \\d+ nps \\d+$ ; ^nodes \\d+ time \\d+ nps \\d+$""",
    "questions during a search": """
        > go infinite ; side
        < ^black$
        > stop
        < ^bestmove""",
}
