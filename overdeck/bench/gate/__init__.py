"""``hookbench gate``: is head dearer than the pinned base? Both built and measured here, in one job."""
