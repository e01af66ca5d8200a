"""azureml.train.hyperdrive: so far only its exceptions."""

from runyard.sdk.sdk_v1 import late_names

__getattr__ = late_names(
    __name__,
    {},
    not_yet=(
        *("BanditPolicy", "BayesianParameterSampling", "EarlyTerminationPolicy", "GridParameterSampling"),
        *("HyperDriveConfig", "HyperDriveRun", "HyperDriveRunConfig", "HyperParameterSampling"),
        *("MedianStoppingPolicy", "NoTerminationPolicy", "PrimaryMetricGoal", "RandomParameterSampling"),
        *("TruncationSelectionPolicy", "choice", "lognormal", "loguniform", "normal", "qlognormal", "qloguniform"),
        *("qnormal", "quniform", "randint", "uniform"),
    ),
)
