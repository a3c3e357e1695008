from rest_framework.routers import SimpleRouter

from kviz.experiments.api import ExperimentViewSet

router = SimpleRouter(use_regex_path=False)
router.register("", ExperimentViewSet, basename="api-experiment")

urlpatterns = router.urls
