"""The layers that contain a run, its folders and its limits. Imports wire and kernel."""
