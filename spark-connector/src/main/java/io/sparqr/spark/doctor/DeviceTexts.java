/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.partition.DeviceModel;
import io.sparqr.spark.device.Backends;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The devices of a JVM as texts, since tasks send back classes of Java only. */
final class DeviceTexts {

  private DeviceTexts() {}

  /**
   * The usable devices of this JVM: first where it is, then a description and bytes of memory for
   * each.
   *
   * @param where this JVM, in words
   */
  static String[][] of(String where) {
    List<DeviceModel> devices = Backends.devices();
    List<String> descriptions = Backends.deviceTexts();
    String[][] texts = new String[1 + devices.size()][];
    texts[0] = new String[] {where};
    for (int d = 0; d < devices.size(); d++) {
      texts[d + 1] =
          new String[] {descriptions.get(d), Long.toString(devices.get(d).memoryBytes())};
    }
    return texts;
  }

  /** All of them as a JSON array of objects: where, index, description, memoryBytes. */
  static String json(List<String[][]> answers) {
    List<Map<String, Object>> all = new ArrayList<>();
    for (String[][] answer : answers) {
      for (int d = 1; d < answer.length; d++) {
        var device = new LinkedHashMap<String, Object>();
        device.put("where", answer[0][0]);
        device.put("index", d - 1);
        device.put("description", answer[d][0]);
        device.put("memoryBytes", Long.parseLong(answer[d][1]));
        all.add(device);
      }
    }
    try {
      return new ObjectMapper().writeValueAsString(all);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("devices that are not JSON", e);
    }
  }
}
