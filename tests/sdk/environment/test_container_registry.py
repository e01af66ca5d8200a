from runyard.sdk.environment.container_registry import ContainerRegistry, RegistryIdentity


def test_round_trip() -> None:
    registry = ContainerRegistry("reg.example", "me", "secret", RegistryIdentity(client_id="c"))
    assert ContainerRegistry.from_dict(registry.to_dict()) == registry


def test_the_password_is_not_shown() -> None:
    assert "secret" not in repr(ContainerRegistry(password="secret"))
