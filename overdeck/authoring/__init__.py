"""What a module author needs: the inventory, the matrix, the scaffold."""
