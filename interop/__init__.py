"""Other people's protocols, one file each, over the rooms before this one."""
