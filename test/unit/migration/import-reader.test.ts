import test from 'ava';
import fc from 'fast-check';
import { notText } from '../../../actors/migration/formats/first-bytes.ts';
import { withGuard, withoutGuard } from '../../../protocol/formulas.ts';
import { createImportReader, formatOf } from '../../../actors/migration/formats/reader.ts';
import type { Fault, Found } from '../../../actors/migration/formats/entry.ts';
import { sheetLine, endLine, jsonLine } from '../../../protocol/sheet.ts';
import { descriptorChecksum } from '../../../chains/btc/descriptor-checksum.ts';
import { SHEETS } from '../../../gateway/http/migration/export-sheets.ts';
import { IMPORT_FIELDS, type ImportField } from '../../../protocol/migration/imports.ts';

const EVM = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  BTC = 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu';
const XPUB =
  'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V';

function read(text: string | Uint8Array, cut: (length: number) => number[] = () => [], rowsMax?: number): Found[] {
  const bytes = Buffer.from(text as string),
    reader = createImportReader(rowsMax);
  const places = [0, ...cut(bytes.length), bytes.length];
  return [...places.slice(1).flatMap((to, at) => reader.push(bytes.subarray(places[at], to))), ...reader.end()];
}
const rowsOf = (found: readonly Found[]) => found.flatMap((one) => (one.kind === 'row' ? [one.fields] : []));
const faultsOf = (found: readonly Found[]): Fault[] => found.flatMap((one) => (one.kind === 'fault' ? [one] : []));
const errorsOf = (text: string) =>
  faultsOf(read(text))
    .filter(({ isWarning }) => !isWarning)
    .map(({ code, line, ends }) => `${code} ${line}${ends ? ' ends' : ''}`);
const csv = (...lines: string[]) => lines.join('\n');

test('migration M-U5: what is no text is named by its first bytes, and nothing is unpacked', (t) => {
  const of = (hex: string) => notText(Buffer.from(hex, 'hex'));
  for (const [name, ...starts] of [
    ['zip', '504b0304', '504b0506', '504b0708'],
    ['gzip', '1f8b08'],
    ['bzip2', '425a6839'],
    ['xz', 'fd377a585a00'],
    ['zstd', '28b52ffd'],
    ['7z', '377abcaf271c'],
    ['rar', '526172211a0700', '526172211a070100'],
    ['pdf', '255044462d312e37'],
    ['ole', 'd0cf11e0a1b11ae1'],
    ['sqlite', '53514c69746520666f726d6174203300'],
    ['utf-32', 'fffe0000', '0000feff'],
    ['utf-16', 'fffe3000', 'feff0030'],
    ['binary', '61620063'],
  ] as const)
    for (const start of starts) t.is(of(start), name, start);
  for (const text of ['', 'address\n', '\ufeffaddress', '{', 'PK', '%PD', 'é'])
    t.is(notText(Buffer.from(text)), null, text);
});

test('migration M-U7: the format is that of the first line that says something', (t) => {
  for (const [line, format] of [
    ['{"address":"x"}', 'json_lines'],
    ['  {', 'json_lines'],
    ['[', 'json_array'],
    ['wpkh(xpub/0/*)#abcdefgh', 'descriptors'],
    ['sortedmulti(2,a,b)', 'descriptors'],
    ['BSMS 1.0', 'descriptors'],
    ['chain: eth', 'key_value'],
    ['XPUB = xpub', 'key_value'],
    ['address,chain', 'csv'],
    ['address;memo: x', 'csv'],
    ['sep=;', 'csv'],
    [EVM, 'csv'],
  ] as const)
    t.is(formatOf(line), format, line);
  const reader = createImportReader();
  reader.push(Buffer.from('\n# exported today\n\t\naddress\n'));
  t.is(reader.format, 'csv');
  t.deepEqual(errorsOf('[{"address":"x"}]'), ['json_array 1 ends']);
  for (const empty of ['', '\n\n', '# nothing', '\ufeff']) t.deepEqual(read(empty), []);
});

test('migration M-U5: LF, CRLF, CR and a byte order mark; bytes that are no UTF-8 and lines that are too long, each at its line', (t) => {
  const lines = ['address,userRef', `${EVM},"a\nb"`, `${BTC},c`];
  const rows = [
    { address: EVM, userRef: 'a\nb' },
    { address: BTC, userRef: 'c' },
  ];
  for (const end of ['\n', '\r\n', '\r'])
    for (const mark of ['', '\ufeff'])
      for (const last of ['', end]) t.deepEqual(rowsOf(read(mark + lines.join(end) + last)), rows);
  const bad = Buffer.concat([Buffer.from(`address\n${EVM}\n`), Buffer.from([0xe9, 10]), Buffer.from(`${BTC}\n`)]);
  t.deepEqual(rowsOf(read(bad)), [{ address: EVM }, { address: BTC }]);
  t.deepEqual(
    faultsOf(read(bad)).map(({ code, line }) => [code, line]),
    [['encoding', 3]],
  );
  const long = (size: number) => csv('address', EVM, 'x'.repeat(size), BTC);
  t.deepEqual(errorsOf(long(32_769)), ['line_too_long 3']);
  t.deepEqual(errorsOf(long(32_768)), ['columns 3'], 'a cell has its own bound');
  t.is(rowsOf(read(long(32_769))).length, 2);
  t.deepEqual(errorsOf(csv('address', ...Array.from({ length: 2 }, () => EVM), '')), []);
  t.deepEqual(
    faultsOf(read(csv('address', EVM, EVM, EVM), undefined, 2)).map(({ code, line, ends }) => [code, line, ends]),
    [['IMPORT_TOO_LARGE', 4, true]],
  );
});

test('migration M-U5: a quote that stays open ends the reading at the line where it opened', (t) => {
  t.deepEqual(errorsOf(csv('address,label', `${EVM},"open`, `${BTC},x`)), ['unclosed_quote 2 ends']);
  t.deepEqual(errorsOf(csv('address,label', `${EVM},ok`, `${BTC},"open`, ...Array(40_000).fill('a,b'))), [
    'unclosed_quote 3 ends',
  ]);
  t.deepEqual(errorsOf(csv('"address,label', EVM)), ['unclosed_quote 1 ends']);
  t.deepEqual(errorsOf(csv('"address,label', ...Array(40_000).fill('aa'))), ['unclosed_quote 1 ends']);
  const closed = csv('address,label', `${EVM},"${'x\n'.repeat(1_000)}"`, `${BTC},y`);
  t.is(rowsOf(read(closed)).length, 2);
});

test('migration M-U8: the delimiter is that of the header with the most known names, whatever the data has; sep= is obeyed', (t) => {
  const row = { address: EVM, userRef: 'a,b;c|d', label: '1,5' };
  for (const delimiter of [',', ';', '\t', '|'])
    t.deepEqual(
      rowsOf(read(csv(['address', 'user_ref', 'Label'].join(delimiter), [EVM, '"a,b;c|d"', '"1,5"'].join(delimiter)))),
      [row],
      delimiter,
    );
  t.deepEqual(rowsOf(read(csv('sep=;', 'address;note', `${EVM};a,b`))), [{ address: EVM, label: 'a,b' }]);
  t.deepEqual(rowsOf(read(csv('Address;Note', `${EVM};1,2,3`, `${EVM};4,5,6`))).length, 2);
});

test('migration M-U8: names of columns by any case and sign between; unknown ones are named once, two of one field are an error', (t) => {
  const header =
    'Wallet Address,NETWORK,HD-Path,Derivation_Index,extended public key,Customer ID,Purpose,Description,Destination.Tag';
  t.deepEqual(rowsOf(read(csv(header, `${EVM},eth,m/44'/60'/0'/0/0,0,${XPUB},c-1,vip,first,7`))), [
    {
      address: EVM,
      chain: 'eth',
      path: "m/44'/60'/0'/0/0",
      index: '0',
      xpub: XPUB,
      userRef: 'c-1',
      tag: 'vip',
      label: 'first',
      memo: '7',
    },
  ]);
  const unknown = faultsOf(read(csv('address,balance,,userRef', `${EVM},5,,u`)));
  t.like(unknown, [{ code: 'unknown_column', line: 1, column: 2, isWarning: true }]);
  t.is(unknown.length, 1);
  t.deepEqual(errorsOf(csv('address,wallet', `${EVM},${BTC}`)), ['two_columns 1']);
  t.deepEqual(errorsOf(csv('name,chain', 'x,eth')), ['columns 1 ends']);
  t.deepEqual(errorsOf(csv(['address', ...Array(64).fill('x')].join(','), EVM)), ['columns 1 ends']);
  t.deepEqual(rowsOf(read(csv(EVM, BTC))), [{ address: EVM }, { address: BTC }], 'one column without a known name');
});

test('migration M-U8: cells: blanks of a reference count, those around an address do not; too few and too many are named', (t) => {
  t.deepEqual(rowsOf(read(csv('address,userRef', ` ${EVM} , 007 `))), [{ address: EVM, userRef: ' 007 ' }]);
  t.deepEqual(rowsOf(read(csv('address,userRef', `${EVM},`, ',', '   ,', `${BTC},x,,`))), [
    { address: EVM },
    { address: BTC, userRef: 'x' },
  ]);
  t.deepEqual(errorsOf(csv('address,userRef', `${EVM},a,b`, EVM, `${EVM},"a"b`, `${EVM},a"b`)), [
    'columns 2',
    'columns 3',
    'columns 4',
  ]);
  const remarks = ['# gap limit of a restored wallet, evm: 34', '# end, 1 rows'];
  t.deepEqual(rowsOf(read(csv('address', `"${EVM}"`, ...remarks))), [{ address: EVM }]);
});

test('migration M-U10: JSON Lines: flat objects, numbers as their text, a repeated key and a value within a value refused; labels of BIP-329', (t) => {
  const one = (line: string) => rowsOf(read(line))[0];
  t.deepEqual(one(`{"address":"${EVM}","userRef":12345678901234567890,"index":7,"tag":null,"note":"\\u00e9\\n"}`), {
    address: EVM,
    userRef: '12345678901234567890',
    index: '7',
    label: 'é\n',
  });
  t.deepEqual(one(`{"type":"addr","ref":"${BTC}","label":"x","origin":"wpkh"}`), {
    address: BTC,
    chain: 'btc',
    label: 'x',
  });
  t.deepEqual(read('{"type":"tx","ref":"abc","label":"x"}\n{"type":"xpub","ref":"x"}'), []);
  for (const line of [
    '{"address":"a","address":"b"}',
    '{"address":{"a":1}}',
    '{"address":["a"]}',
    '{"address":"a"',
    '{"address":"a"}}',
    '{"address":"a",}',
    '{"address" "a"}',
    "{'address':'a'}",
    '{"address":01}',
    '{"address":"\\ud800"}',
    '{"address":"a\\u0000"}',
    '{"address":"a\tb"}',
    '{"address":NaN}',
    '{"a":'.repeat(5_000),
  ])
    t.deepEqual(errorsOf(`{}\n${line}`), ['malformed_json 2'], line.slice(0, 40));
  t.deepEqual(errorsOf('{"address":"a","addr":"b"}'), ['two_columns 1']);
  t.like(faultsOf(read('{"address":"a","foo":1}\n{"address":"a","foo":1}')), [
    { code: 'unknown_column', line: 1, isWarning: true },
  ]);
});

const described = (body: string): string => `${body}#${descriptorChecksum(body)}`;

test('migration M-U11: descriptors: the checksum over the text as written, a range or the default one; a BSMS record', (t) => {
  const [quoted, plain] = [`wpkh([73c5da0a/84'/0'/0']${XPUB}/0/*)`, `wpkh([73c5da0a/84h/0h/0h]${XPUB}/0/*)`];
  t.not(descriptorChecksum(quoted), descriptorChecksum(plain));
  const [entry] = read(`${described(plain)} range=0-4999`);
  t.like(entry, { kind: 'descriptor', line: 1, range: { first: 0, last: 4_999 }, firstAddress: null });
  t.like(read(`${described(quoted)} range=7`)[0], { range: { first: 7, last: 7 } });
  t.like(read(described(quoted)), [{ code: 'default_range', isWarning: true }, { range: { first: 0, last: 999 } }]);
  t.like(read(described(`addr(${BTC})`))[0], { kind: 'descriptor', range: { first: 0, last: 0 } });
  t.deepEqual(errorsOf(`${quoted}#${descriptorChecksum(plain)}`), ['descriptor_checksum 1']);
  t.deepEqual(errorsOf(quoted), ['descriptor_checksum 1']);
  t.deepEqual(errorsOf(`${described(quoted)} range=5-4`), ['malformed_descriptor 1']);
  t.deepEqual(errorsOf(`${described(quoted)} range=0-2147483648`), ['malformed_descriptor 1']);
  t.deepEqual(errorsOf(`${described(quoted)} note`), ['malformed_descriptor 1']);
  t.deepEqual(errorsOf(described(`wpkh(${XPUB}/0'/*)`)), ['malformed_descriptor 1']);
  const bsms = ['BSMS 1.0', `wsh(sortedmulti(1,${XPUB}/**,${XPUB}/**))`, '/0/*,/1/*', 'bc1qexample'];
  const [warning, multi] = read(bsms.join('\n'));
  t.like(warning, { code: 'default_range', line: 2 });
  t.like(multi, {
    kind: 'descriptor',
    line: 2,
    firstAddress: 'bc1qexample',
    descriptor: { branches: 2, ranged: true },
  });
  t.deepEqual(errorsOf(bsms.slice(0, 3).join('\n')), ['malformed_descriptor 1']);
  t.deepEqual(errorsOf(bsms.with(2, '/0h/*').join('\n')), ['malformed_descriptor 3']);
});

test('migration M-U12: key-value blocks: what is required, a second key, a line that is none; a block with a fault gives nothing', (t) => {
  const block = ['chain: eth', `xpub = ${XPUB}`, "Path: m/44'/60'/0'", 'range: 0-49999'];
  t.deepEqual(read(`# old wallet\n\n${block.join('\n')}\n\n${block.join('\r')}\r`), [
    { kind: 'keyed', line: 3, fields: { chain: 'eth', xpub: XPUB, path: "m/44'/60'/0'", range: '0-49999' } },
    { kind: 'keyed', line: 8, fields: { chain: 'eth', xpub: XPUB, path: "m/44'/60'/0'", range: '0-49999' } },
  ]);
  for (const [at, name] of ['chain', 'xpub', 'path', 'range'].entries())
    t.like(faultsOf(read(block.toSpliced(at, 1).join('\n'))), [{ code: 'columns', line: 1, field: name }]);
  t.deepEqual(errorsOf([...block, 'range: 1'].join('\n')), ['two_columns 5']);
  t.deepEqual(errorsOf([...block, 'what is this'].join('\n')), ['columns 5']);
  t.is(read([...block, 'what is this'].join('\n')).length, 1, 'no address of it');
  t.like(faultsOf(read([...block, 'colour: red'].join('\n'))), [{ code: 'unknown_column', isWarning: true }]);
});

/** Texts that break readers: delimiters, quotes, line ends, formulas, signs beyond the basic plane. */
const awkward = fc
  .array(
    fc.constantFrom(
      '"',
      ',',
      ';',
      '\t',
      '|',
      '\n',
      '\r',
      '\r\n',
      "'",
      '=',
      '+',
      '-',
      '@',
      ' ',
      '#',
      '＝',
      '7',
      'a',
      'é',
      '😀',
      '\u00a0',
      '\ufeff',
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(''));
const references = fc.record({ userRef: awkward, tag: awkward, label: awkward, memo: awkward }, { requiredKeys: [] });
const rows = fc.array(
  references.map((texts) => ({ address: EVM, chain: 'eth', ...texts })),
  { minLength: 1, maxLength: 8 },
);
type Row = Partial<Record<ImportField, string>>;
const asCsv = (list: readonly Row[], delimiter: string, end: string, mark: string): string => {
  const used = IMPORT_FIELDS.filter((field) => list.some((row) => row[field] !== undefined));
  const lines = [
    used.join(delimiter),
    ...list.map((row) =>
      sheetLine(
        used.map((field) => row[field] ?? ''),
        delimiter,
      ),
    ),
  ];
  return mark + lines.map((line) => line + end).join('');
};

test('migration M-E3: A18 a cell that a spreadsheet would run gets an apostrophe, and only that is taken away', (t) => {
  for (const text of ['-12', "'=x", '=1+1', ' +49', '@me', '\tx', '\rx', '\n', '＝1', "''-", "'-", '\u00a0=x'])
    t.deepEqual([withGuard(text), withoutGuard(withGuard(text))], [`'${text}`, text]);
  for (const text of ['12', 'a=b', "'x", "O'Neil", '', ' ', "'"])
    t.deepEqual([withGuard(text), withoutGuard(text)], [text, text]);
  t.notThrows(() => fc.assert(fc.property(awkward, (text) => withoutGuard(withGuard(text)) === text)));
});

test('migration M-E3: A9 what is written is read again as it was: CSV under each delimiter, line end and mark, and JSON Lines', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        rows,
        fc.constantFrom(',', ';', '\t', '|'),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.constantFrom('', '\ufeff'),
        (list, delimiter, end, mark) => {
          const same = (text: string) =>
            JSON.stringify(rowsOf(read(text)).map(sorted)) === JSON.stringify(list.map(sorted));
          return (
            same(asCsv(list, delimiter, end, mark)) && same(mark + list.map((row) => jsonLine(row) + end).join(''))
          );
        },
      ),
      { numRuns: 300 },
    ),
  );
});

test('migration M-E2, M-E3, M-E4: an export of either format is read again as the rows that it was made of', (t) => {
  const adopted = fc.array(
    fc.record({
      address: fc.constant(EVM),
      chain: fc.constant('eth' as const),
      derivationPath: fc.constantFrom('[]', "m/44'/60'/0'/0/7", "[0123456789abcdef/44'/60'/0'/0/7]"),
      userRef: fc.option(awkward),
      tag: fc.option(awkward),
      label: fc.option(awkward),
    }),
    { minLength: 1, maxLength: 8 },
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(adopted, fc.constantFrom('CSV' as const, 'JSONL' as const), (list, format) => {
        const { head, row } = SHEETS[format].open(NO_KEYS);
        const found = read(`${head}${list.map(row).join('')}${endLine(list.length)}\n`);
        const wanted = list.map(({ derivationPath, ...rest }) =>
          Object.fromEntries(
            Object.entries({ ...rest, path: derivationPath === '[]' ? null : "m/44'/60'/0'/0/7" }).filter(
              ([, value]) => value !== null,
            ),
          ),
        );
        return (
          faultsOf(found).length === 0 &&
          JSON.stringify(rowsOf(found).map(sorted)) === JSON.stringify(wanted.map(sorted))
        );
      }),
      { numRuns: 300 },
    ),
  );
});
const NO_KEYS = { enrolment: null, retired: [], keySources: {} };
const sorted = (row: Row) => Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1));

const SAMPLES = [
  asCsv(
    [
      { address: EVM, userRef: 'é"\r\n,😀', label: "'=1" },
      { address: BTC, userRef: 'x\ry' },
    ],
    ',',
    '\r\n',
    '\ufeff',
  ),
  `{"address":"${EVM}","note":"é😀"}\r\n{"address":"a","address":1}\r{"address":"${BTC}"}`,
  `${described(`addr(${BTC})`)}\r\n${described(`wpkh(${XPUB}/0/*)`)} range=0-3`,
  `chain: eth\r\nxpub: ${XPUB}\r\npath: m/44'/60'/0'\r\nrange: 0-9\r\n\r\nchain = btc\r\n`,
  'address,label\n0x1,"open\n0x2,x',
];

test('migration M-U5: the same is read wherever the chunks are cut, byte by byte too', (t) => {
  const plain = (found: Found[]) => JSON.stringify(found);
  for (const sample of SAMPLES) {
    const whole = plain(read(sample));
    for (let at = 0; at <= Buffer.byteLength(sample); at += 1) t.is(plain(read(sample, () => [at])), whole);
    t.is(plain(read(sample, (length) => Array.from({ length }, (_, at) => at))), whole);
  }
});

test('migration M-U5: any bytes are read without a throw, and no fault is of a line that is not there', (t) => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .tuple(fc.constantFrom(...SAMPLES), fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 6 }))
      .map(([sample, edits]) => {
        const copy = Buffer.from(sample);
        for (const [at, byte] of edits) copy[at % copy.length] = byte;
        return copy;
      }),
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(bytes, (input) => {
        const lines = input.reduce((sum, byte) => sum + (byte === 10 || byte === 13 ? 1 : 0), 1);
        return read(input).every(({ line }) => line >= 1 && line <= lines + 1);
      }),
      { numRuns: 300 },
    ),
  );
});

test('migration M-U13: a fault has line, column, field, code and message, and repeats at most 64 characters of the file', (t) => {
  const name = 'n'.repeat(500),
    faults = [
      `address,${name}\n${EVM},x`,
      `{"${name}":1}`,
      `{"${name}":1,"${name}":2}`,
      `chain: eth\n${name}: 1\n`,
      `address\n"${EVM}"x`,
      `${name}(`,
    ].flatMap((text) => faultsOf(read(text)));
  t.true(faults.length >= 6);
  for (const one of faults) {
    t.deepEqual(Object.keys(one).sort(), ['code', 'column', 'ends', 'field', 'isWarning', 'kind', 'line', 'message']);
    t.notRegex(one.message, /n{65}/);
  }
});

/** Linear readers take some 20 ms for a megabyte; those that go back over a line of 32 KiB take 30,000. */
const CPU_MS_MAX = 5_000;
test('migration M-T5: the work on hostile lines grows with their length, not with its square, which would be half a minute for each', (t) => {
  const hostile = {
    quotes: 'address,label\n' + 'a,"'.repeat(10_000) + '\n',
    doubled: 'address,label\n' + 'a,"' + '""'.repeat(15_000) + '\n',
    parentheses: 'wpkh(x)#abcdefgh\n' + `${'('.repeat(30_000)}\n`,
    nested: `sh(${'wsh('.repeat(5_000)}#abcdefgh\n`,
    letters: `wpkh(${'x'.repeat(19_000)})#abcdefgh\n`,
    braces: '{}\n' + `${'{"a":'.repeat(6_000)}\n`,
    escapes: '{}\n' + `{"${'\\\\'.repeat(15_000)}\n`,
    equals: 'chain: x\n' + `${'='.repeat(30_000)}\n`,
    blanks: 'wpkh(x)#abcdefgh' + `${' '.repeat(30_000)}x\n`,
    apostrophes: `address,label\n${"'".repeat(4_000)},${' '.repeat(4_000)}\n`,
    header: `"${'\n'.repeat(30_000)}`,
  };
  const cpuMsOf = (text: string, times: number): number => {
    const bytes = Buffer.from(text.repeat(times));
    const before = process.cpuUsage();
    createAndRead(bytes);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  for (const [name, text] of Object.entries(hostile)) {
    cpuMsOf(text, 8);
    const perMegabyte = Math.min(...[0, 1, 2].map(() => cpuMsOf(text, Math.ceil(1_000_000 / text.length))));
    t.true(perMegabyte < CPU_MS_MAX, `${name}: ${perMegabyte} ms of CPU for 1 MB`);
  }
});
function createAndRead(bytes: Uint8Array): number {
  const reader = createImportReader();
  return reader.push(bytes).length + reader.end().length;
}
