/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How a table is to be read. What is not set is found out from the file. */
public final class TableOptions {

  private final Builder from;

  private TableOptions(Builder from) {
    this.from = from;
  }

  public static Builder builder() {
    return new Builder();
  }

  /** The delimiter, unless it is to be found out. */
  @Nullable Character delimiter() {
    return from.delimiter;
  }

  char quote() {
    return from.quote;
  }

  /** The character that begins a line of comment, if any does. */
  @Nullable Character comment() {
    return from.comment;
  }

  /** The decimal mark, a point or a comma, unless it is to be found out. */
  @Nullable Character decimal() {
    return from.decimal;
  }

  /** The mark between thousands, if there is one. */
  @Nullable Character thousands() {
    return from.thousands;
  }

  /** The encoding, unless it is to be found out. */
  @Nullable Charset encoding() {
    return from.encoding;
  }

  /** Texts that stand for a missing value, besides an empty field. */
  Set<String> missing() {
    var all = new LinkedHashSet<String>(from.missing);
    if (!from.keepNa) {
      all.add("NA");
    }
    return all;
  }

  /** The requests "COLUMN=TYPE" that are resolved when the columns' names are known. */
  List<String> typeRequests() {
    return from.requests;
  }

  /** A builder of options. */
  public static final class Builder {
    private @Nullable Character delimiter;
    private char quote = '"';
    private @Nullable Character comment;
    private @Nullable Character decimal;
    private @Nullable Character thousands;
    private @Nullable Charset encoding;
    private boolean keepNa;
    private final Set<String> missing = new LinkedHashSet<>();
    private final List<String> requests = new ArrayList<>();

    private Builder() {}

    /**
     * The delimiter: one character, or {@code tab}, {@code space}, {@code \t}.
     *
     * @throws IllegalArgumentException if it is not one
     */
    public Builder delimiter(String text) {
      delimiter = character("delimiter", text);
      return this;
    }

    /**
     * The quote; default {@code "}.
     *
     * @throws IllegalArgumentException if it is not one character
     */
    public Builder quote(String text) {
      quote = character("quote", text);
      return this;
    }

    /**
     * The character that begins lines of comment; default none.
     *
     * @throws IllegalArgumentException if it is not one character
     */
    public Builder comment(String text) {
      comment = character("comment mark", text);
      return this;
    }

    /**
     * The decimal mark.
     *
     * @throws IllegalArgumentException if it is neither point nor comma
     */
    public Builder decimal(String text) {
      decimal = character("decimal mark", text);
      if (decimal != '.' && decimal != ',') {
        throw new IllegalArgumentException("decimal mark '" + text + "': . or ,");
      }
      return this;
    }

    /**
     * The mark between thousands; a space stands for all kinds of space.
     *
     * @throws IllegalArgumentException if it is not one character
     */
    public Builder thousands(String text) {
      thousands = character("mark between thousands", text);
      if (Character.isLetterOrDigit(thousands)) {
        throw new IllegalArgumentException("mark between thousands '" + text + "': not possible");
      }
      return this;
    }

    /**
     * The encoding, by any of its names: latin1, utf-16, windows-1252.
     *
     * @throws IllegalArgumentException if Java does not know it
     */
    public Builder encoding(String name) {
      String plain = name.strip().toLowerCase(Locale.ROOT);
      plain = plain.equals("utf-8-sig") ? "utf-8" : plain.replaceFirst("^utf(16|32)", "utf-$1");
      try {
        encoding = Charset.forName(plain);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "no encoding is called '" + name + "'; common are utf-8, latin1, windows-1252, utf-16",
            e);
      }
      return this;
    }

    /** Further texts that stand for a missing value. */
    public Builder missing(Iterable<String> marks) {
      marks.forEach(m -> missing.add(m.strip()));
      return this;
    }

    /** NA is a text like any other, as for the code of Namibia. */
    public Builder keepNa() {
      keepNa = true;
      return this;
    }

    /** The type of a column or of several, as COLUMN=TYPE or COLUMN,COLUMN=TYPE,... */
    public Builder types(String request) {
      requests.add(request);
      return this;
    }

    /**
     * The options.
     *
     * @throws IllegalArgumentException if two characters with different meanings are equal
     */
    public TableOptions build() {
      different("delimiter", delimiter, "quote", quote);
      different("delimiter", delimiter, "comment mark", comment);
      different("quote", quote, "comment mark", comment);
      different("decimal mark", decimal, "mark between thousands", thousands);
      return new TableOptions(this);
    }

    private static void different(
        String one, @Nullable Character a, String other, @Nullable Character b) {
      if (a != null && a.equals(b)) {
        throw new IllegalArgumentException("'" + a + "' is both " + one + " and " + other);
      }
    }

    private static char character(String what, String text) {
      String plain =
          switch (text.toLowerCase(Locale.ROOT)) {
            case "tab", "\\t" -> "\t";
            case "space" -> " ";
            case "comma" -> ",";
            case "semicolon" -> ";";
            case "point" -> ".";
            default -> text;
          };
      if (plain.length() != 1 || plain.charAt(0) == '\n' || plain.charAt(0) == '\r') {
        throw new IllegalArgumentException(what + " '" + text + "': one character");
      }
      return plain.charAt(0);
    }
  }
}
