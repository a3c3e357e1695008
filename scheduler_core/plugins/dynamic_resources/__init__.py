"""Devices for a pod's resource claims, and for extended resources that classes of devices back.

Upstream: v1.36 plugins/dynamicresources and dynamic-resource-allocation/structured.
"""

from scheduler_core.plugins.dynamic_resources.plugin import DynamicResources as DynamicResources
