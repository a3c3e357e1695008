from rest_framework.routers import SimpleRouter

from kviz.clusters.followed import api

router = SimpleRouter(use_regex_path=False)
router.register("followed", api.FollowedViewSet, basename="api-followed")

urlpatterns = router.urls
