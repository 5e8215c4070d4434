"""Pure decisions about memories: how they are filed, who may change what, what a new one is to those there are."""
