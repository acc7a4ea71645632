"""What a run will cost before it is launched: its jobs, their time, disk space and longest chain.

Estimates, for planning: see costs.py for what they are made of and docs/measurements/plan for how
far they were off.
"""
