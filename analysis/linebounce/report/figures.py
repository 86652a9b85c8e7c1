def write_figures(runs, folder):
    return []
