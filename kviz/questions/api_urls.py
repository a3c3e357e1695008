"""REST of all questions, below /api/v1/."""

from kviz.questions import modules

urlpatterns = [pattern for module in modules("api_urls") for pattern in module.urlpatterns]
