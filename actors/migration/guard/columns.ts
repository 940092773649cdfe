/** The lines of a file by their columns, for what only a column says: names, hashes, a phrase down a column. */
import { stringsIn } from '../../../protocol/json-strings.ts';
import {
  findKeyMaterialInValue,
  findKeyMaterialInWindow,
  type KeyMaterialRule,
} from '../../../protocol/node/key-material.ts';
import { PhraseColumn } from '../../../protocol/node/phrase-column.ts';
import { isSecretName } from '../../../protocol/node/secret-names.ts';
import { cellsOf, delimiterOf } from '../formats/csv.ts';
import type { ImportFormat } from '../formats/entry.ts';
import { pairOf } from '../formats/key-values.ts';
import { COLUMNS_MAX, LINE_BYTES_MAX } from '../formats/limits.ts';
import { formatOf } from '../formats/reader.ts';

export type SecretRule = KeyMaterialRule | 'secret_name';

export class Columns {
  #format: ImportFormat | null = null;
  #delimiter: string | null = null;
  /** Names of CSV columns; null before the header. */
  #names: readonly string[] | null = null;
  /** Lines of a CSV record that a quote keeps open. */
  #open = '';
  readonly #words = new Map<string | number, PhraseColumn>();

  /** The rule that the file meets with this line, or null. */
  line(text: string): SecretRule | null {
    if (this.#format === null) {
      if (text.trim() === '' || text.trimStart().startsWith('#')) return findKeyMaterialInValue('', text);
      const format = formatOf(text.replace(/^\ufeff/, ''));
      this.#format = format === 'json_array' ? 'json_lines' : format;
    }
    switch (this.#format) {
      case 'csv':
        return this.#csvLine(text);
      case 'json_lines':
        return this.#jsonLine(text);
      case 'key_value':
        return this.#pair(text);
      case 'descriptors':
        return this.#cell('', '', text);
    }
  }

  /** The same for the end of the file. */
  end(): SecretRule | null {
    const last = this.#open === '' ? null : this.#record(this.#open);
    this.#open = '';
    return [...this.#words.values()].reduce<SecretRule | null>((found, words) => found ?? words.end(), last);
  }

  #csvLine(text: string): SecretRule | null {
    const whole = this.#open === '' ? text : `${this.#open}\n${text}`;
    if (whole.length <= LINE_BYTES_MAX && (whole.split('"').length - 1) % 2 === 1) {
      this.#open = whole;
      return null;
    }
    this.#open = '';
    return this.#record(whole);
  }

  #record(text: string): SecretRule | null {
    if (this.#names === null) {
      const separator = /^\ufeff?sep=([,;\t|])$/i.exec(text)?.[1];
      if (separator !== undefined) {
        this.#delimiter = separator;
        return null;
      }
      this.#delimiter ??= delimiterOf(text.replace(/^\ufeff/, ''));
      this.#names = (cellsOf(text, this.#delimiter) ?? []).slice(0, COLUMNS_MAX);
      return first(this.#names, (name) => (isSecretName(name) ? 'secret_name' : findKeyMaterialInValue('', name)));
    }
    const cells = text.includes('"') ? (cellsOf(text, this.#delimiter!) ?? [text]) : text.split(this.#delimiter!);
    return first(cells.slice(0, COLUMNS_MAX), (cell, column) => this.#cell(column, this.#names![column] ?? '', cell));
  }

  #jsonLine(text: string): SecretRule | null {
    const { keys, values } = stringsIn(text);
    if (keys.some(isSecretName)) return 'secret_name';
    const rule = first(values, ({ field, text: value }) => this.#cell(field, field, value));
    // A phrase behind escapes, or spread over the values of one object, is no phrase in the text as it is written.
    return rule ?? (values.length > 0 && text.includes('\\') ? inValues(values.map((value) => value.text)) : null);
  }

  #pair(text: string): SecretRule | null {
    const [name, value] = pairOf(text) ?? ['', text];
    return isSecretName(name) ? 'secret_name' : this.#cell(name, name, value);
  }

  #cell(column: string | number, name: string, text: string): SecretRule | null {
    const rule = findKeyMaterialInValue(name, text);
    if (rule !== null) return rule;
    const words = this.#words.get(column) ?? new PhraseColumn();
    if (this.#words.size < COLUMNS_MAX) this.#words.set(column, words);
    return words.cell(text);
  }
}

const inValues = (values: readonly string[]): KeyMaterialRule | null => findKeyMaterialInWindow(values.join('\n'));

function first<T>(list: readonly T[], judge: (one: T, at: number) => SecretRule | null): SecretRule | null {
  for (const [at, one] of list.entries()) {
    const rule = judge(one, at);
    if (rule !== null) return rule;
  }
  return null;
}
