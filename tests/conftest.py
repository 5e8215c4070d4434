import shutil

import pytest
from django.db import connections


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment, django_db_blocker, django_db_modify_db_settings):
    """Make the test database as in production: the owner creates and migrates it, the application role uses it."""
    owner, application = connections["owner"], connections["default"]
    real_name = owner.settings_dict["NAME"]
    with django_db_blocker.unblock():
        owner.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        application.creation.set_as_test_mirror(owner.settings_dict)
        if owner.settings_dict["USER"] != application.settings_dict["USER"]:
            # Only tests empty tables by TRUNCATE.
            role = owner.ops.quote_name(application.settings_dict["USER"])
            with owner.cursor() as cursor:
                cursor.execute(f"GRANT TRUNCATE ON ALL TABLES IN SCHEMA public TO {role}")
    yield
    with django_db_blocker.unblock():
        application.close()
        application.close_pool()
        owner.creation.destroy_test_db(real_name, verbosity=0)


def pytest_collection_modifyitems(items):
    if any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason="needs Chromium: install the package chromium"))
