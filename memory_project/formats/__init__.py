"""How dates read where a template names no form of its own: as on people's pages."""
