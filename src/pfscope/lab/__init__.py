"""The laboratory: a simulated Lustre site that prints what real servers print, truth known."""
