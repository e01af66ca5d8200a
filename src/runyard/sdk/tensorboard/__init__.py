"""TensorBoard over the logs of runs, and metrics as TensorBoard's event files."""
