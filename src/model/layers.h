// SPDX-License-Identifier: Apache-2.0
// Which layers of a model are alike: windows by layer, dense and expert layers, as the config's
// patterns say.
#pragma once

#include "model/fields.h"
#include "setpoint/model.h"

namespace setpoint::model {

// Fills `spec.layers` and `spec.order`; problems end up in `fields.status()`.
void read_layers(Fields& fields, ModelSpec& spec);

}  // namespace setpoint::model
