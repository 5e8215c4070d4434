"""How quickly Keepsake works, measured on a machine of your own."""
