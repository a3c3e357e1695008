"""Pages of all questions."""

from kviz.questions import modules

urlpatterns = [pattern for module in modules("urls") for pattern in module.urlpatterns]
