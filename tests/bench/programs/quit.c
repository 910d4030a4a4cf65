/* The smallest static program: it is linked without anything that a preloaded library could see. */
int main(void) { return 0; }
