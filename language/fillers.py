"""What stands for the summary of messages that say nothing worth recalling; searches leave such summaries out."""

NOTHING_NEW = "These messages hold nothing new: they repeat what was recalled, or are not to be remembered."
NOTHING_SAID = "These messages hold nothing to recall: greetings, thanks or a word in passing."
FILLERS = (NOTHING_NEW, NOTHING_SAID)
