"""The feature gates that decide how devices are allocated."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.api import Device
from scheduler_core.config.features import FeatureGates


@dataclass(frozen=True, slots=True)
class AllocatorGates:
    """Upstream: v1.36 plugins/dynamicresources (AllocatorFeatures)."""

    admin_access: bool
    prioritized_list: bool
    partitionable_devices: bool
    device_taints: bool
    binding_conditions: bool
    consumable_capacity: bool
    fractional_ranges: bool
    refused_give_back: bool
    """Whether a refused device gives back what was booked for it (as the next ones a switch)."""
    plain_config: bool
    distinct_among_all: bool
    errors_name_device: bool
    shares_charged_once: bool
    counters_of_own_nodes: bool
    counters_by_driver: bool
    all_despite_use: bool
    claim_limit_by_request: bool
    capacities_in_range: bool
    derived_attributes_refused: bool

    @property
    def stable_suffices(self) -> bool:
        """Whether upstream's oldest allocator has all that is on, and so is the one in use.

        It passes over capacity requests, does not know `distinctAttribute`, and shows selectors no
        device as one that may be shared. It also tries pools in no particular order; kviz keeps to
        the order of the others.

        Upstream: v1.36 dynamic-resource-allocation/structured/internal/stable.
        """
        return not (self.binding_conditions or self.consumable_capacity)

    @property
    def counters_everywhere(self) -> bool:
        """Whether shared counters concern all nodes: in upstream's oldest allocator they still do.

        Upstream: v1.37 structured/internal/stable/pools_stable.go.
        """
        return self.stable_suffices or not self.counters_of_own_nodes

    def shows_as_shareable(self, device: Device) -> bool:
        """Return what selectors see of a device's `allowMultipleAllocations`."""
        return device.allow_multiple_allocations and not self.stable_suffices

    @staticmethod
    def of(features: FeatureGates) -> AllocatorGates:
        return AllocatorGates(
            admin_access=features.enabled("DRAAdminAccess"),
            prioritized_list=features.enabled("DRAPrioritizedList"),
            partitionable_devices=features.enabled("DRAPartitionableDevices"),
            device_taints=features.enabled("DRADeviceTaints"),
            binding_conditions=features.enabled("DRADeviceBindingConditions")
            and features.enabled("DRAResourceClaimDeviceStatus"),
            consumable_capacity=features.enabled("DRAConsumableCapacity"),
            fractional_ranges=features.enabled("DRAFractionalCapacityRange"),
            refused_give_back=features.switches.refused_devices_give_back,
            plain_config=features.switches.config_for_all_requests,
            distinct_among_all=features.switches.distinct_among_all,
            errors_name_device=features.switches.cel_errors_name_device,
            shares_charged_once=features.switches.shares_charged_once,
            counters_of_own_nodes=features.switches.counters_of_own_nodes,
            counters_by_driver=features.switches.counters_by_driver,
            all_despite_use=features.switches.all_despite_use,
            claim_limit_by_request=features.switches.claim_limit_by_request,
            capacities_in_range=features.switches.capacities_in_range,
            derived_attributes_refused=features.switches.derived_attributes_refused,
        )
