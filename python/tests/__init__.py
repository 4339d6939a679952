# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
