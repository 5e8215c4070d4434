"""What networks that run in this process share: how they are built, loaded once, and kept safe across forks."""
