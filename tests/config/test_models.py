from pathlib import Path

from fastdecode.config.models import Model


def test_the_folder_of_a_model_is_its_name() -> None:
    model = Model("toy", "raw", "big", 3)
    assert (model.folder, model.entry) == (Path("toy/raw/big/seed3"), "raw/big")
    assert Model.of(str(model.folder)) == model
