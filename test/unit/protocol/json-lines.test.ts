import { EventEmitter } from 'node:events';
import test from 'ava';
import fc from 'fast-check';
import { refuse, Refused } from '../../../protocol/errors.ts';
import { answersTo, writeAnswers, type JsonLinesOptions } from '../../../protocol/node/json-lines.ts';
import {
  chainField,
  integerField,
  listField,
  objectField,
  optionalTextField,
  textField,
  wordField,
} from '../../../protocol/node/request-fields.ts';

const options: JsonLinesOptions = {
  lineBytesMax: 200,
  operations: {
    echo: (request) => ({ text: textField(request, 'text') }),
    refuse: () => refuse('NOT_FOUND', { reason: 'nowhere' }),
    throw: () => {
      throw new Refused(refuse('CONFLICT'));
    },
    fault: () => {
      throw new TypeError('secret words');
    },
    known: () => {
      throw new RangeError('known');
    },
    later: async () => ({ text: await Promise.resolve('later') }),
  },
  explainFault: (fault) => (fault instanceof RangeError ? refuse('INVALID_INPUT', {}, 'explained') : null),
};

async function* stream(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
}

async function answers(...chunks: (string | Uint8Array)[]): Promise<unknown[]> {
  const lines: unknown[] = [];
  for await (const line of answersTo(stream(...chunks), options)) lines.push(JSON.parse(line));
  return lines;
}

const codes = (lines: unknown[]) => lines.map((line) => (line as { error?: { code: string } }).error?.code ?? 'ok');

test('issue 3.8 one answer per request, in order, and an error for one never ends the stream', async (t) => {
  const lines = [
    '{"op":"echo","text":"a"}',
    'x',
    '[]',
    '"x"',
    '5',
    '{"op":"none"}',
    '{"op":"toString"}',
    '{}',
    '{"op":"refuse"}',
    '{"op":"throw"}',
    '{"op":"fault"}',
    '{"op":"known"}',
    '{"op":"echo"}',
    '{"op":"later"}',
  ];
  t.deepEqual(codes(await answers(lines.join('\n'))), [
    'ok',
    ...Array.from({ length: 7 }, () => 'INVALID_INPUT'),
    'NOT_FOUND',
    'CONFLICT',
    'INTERNAL_ERROR',
    'INVALID_INPUT',
    'INVALID_INPUT',
    'ok',
  ]);
  t.deepEqual((await answers('{"op":"refuse"}'))[0], {
    error: { code: 'NOT_FOUND', message: 'no such resource for this account: nowhere' },
  });
  t.false(JSON.stringify(await answers('{"op":"fault"}')).includes('secret'));
});

test('issue 3.8 carriage returns, blank lines, a missing last line feed and a byte order mark are no requests and no errors', async (t) => {
  t.deepEqual(await answers('\uFEFF{"op":"echo","text":"a"}\r\n\r\n   \n\t\n{"op":"echo","text":"b"}'), [
    { text: 'a' },
    { text: 'b' },
  ]);
  t.deepEqual(await answers(''), []);
  t.deepEqual(await answers('\n\n'), []);
});

test('issue 3.8 an id comes back as it was, also a long number; what is no label does not', async (t) => {
  const raw: string[] = [];
  const ids = ['7', '"7"', '12345678901234567890', '1.50', '-0.1', '"1.50"', 'null', '"ü"'];
  for await (const line of answersTo(
    stream(ids.map((id) => `{"op":"echo","text":"a","id":${id}}`).join('\n')),
    options,
  ))
    raw.push(line);
  t.deepEqual(
    raw,
    ids.map((id) => `{"id":${id},"text":"a"}`),
  );
  t.deepEqual(
    codes(
      await answers(
        ...[
          '{}',
          '[]',
          'true',
          JSON.stringify('abandon '.repeat(12)),
          JSON.stringify('x'.repeat(150) + '\u0000'.repeat(9)),
        ].map((id) => `{"op":"echo","text":"a","id":${id}}\n`),
      ),
    ),
    ['INVALID_INPUT', 'INVALID_INPUT', 'INVALID_INPUT', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE'],
  );
  t.deepEqual(await answers('{"id":3,"op":"none"}'), [
    {
      id: 3,
      error: { code: 'INVALID_INPUT', message: 'op: expected one of echo, refuse, throw, fault, known, later' },
    },
  ]);
});

test('issue 3.8 an id may be a sentence or the hash of what is asked about; one that holds key material does not come back', async (t) => {
  const [line, hash] = ['btc: an address of mixed case is not valid, BIP-173, case 7 of the list', 'ab'.repeat(32)];
  t.deepEqual(await answers(`{"op":"echo","text":"a","id":"${line}"}\n{"op":"echo","text":"a","id":"${hash}"}`), [
    { id: line, text: 'a' },
    { id: hash, text: 'a' },
  ]);
  const secrets = [
    'legal winner thank year wave sausage worth useful legal winner thank yellow',
    '的的的的的的的的的的的在',
    'L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1',
    'SAB5556L5AN5KSR5WF7UOEFDCIODEWEO7H2UR4S5R62DFTQOGLKOVZDY',
    'sn259rEFXrQrWyx3Q7XneWcwV6dfL',
    'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi',
  ];
  for (const secret of secrets) {
    const told = await answers(`{"op":"echo","text":"a","id":"${secret}"}`);
    t.deepEqual(codes(told), ['INVALID_INPUT'], secret);
    t.false(JSON.stringify(told).includes(secret));
  }
});

test('issue 3.8 a line above the limit is answered and forgotten; the next one is read', async (t) => {
  const long = `{"op":"echo","text":"${'x'.repeat(300)}"}`;
  t.deepEqual(codes(await answers(`${long}\n{"op":"later"}\n${long}`)), [
    'PAYLOAD_TOO_LARGE',
    'ok',
    'PAYLOAD_TOO_LARGE',
  ]);
  t.deepEqual(codes(await answers(...Array.from({ length: 500 }, () => 'y'.repeat(100)), '\n{"op":"later"}')), [
    'PAYLOAD_TOO_LARGE',
    'ok',
  ]);
});

test('issue 3.8 bytes that are no UTF-8 are answered', async (t) => {
  t.deepEqual(codes(await answers(Uint8Array.of(0x22, 0xff, 0x22, 0x0a), '{"op":"later"}')), ['INVALID_INPUT', 'ok']);
});

test('issue 3.8 property: the cuts of the stream do not matter', async (t) => {
  const texts = ['a', 'żółć 你好 🚀', '\\', '"'];
  const bytes = Buffer.from(texts.map((text) => `${JSON.stringify({ op: 'echo', text })}\r\n`).join(''));
  await t.notThrowsAsync(
    fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 20 }), async (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        t.deepEqual(
          await answers(...places.slice(1).map((end, index) => bytes.subarray(places[index], end))),
          texts.map((text) => ({ text })),
        );
      }),
    ),
  );
});

test('issue 3.8 a slow reader costs no listener for each time that it was waited for', async (t) => {
  const most: number[] = [];
  const sink = Object.assign(new EventEmitter(), {
    write() {
      queueMicrotask(() => {
        most.push(...['drain', 'close', 'error'].map((event) => sink.listenerCount(event)));
        sink.emit('drain');
      });
      return false;
    },
  });
  await writeAnswers(answersTo(stream('{"op":"later"}\n'.repeat(50)), options), sink);
  t.is(Math.max(...most), 1);
});

test('issue 3.8 answers wait for their reader and stop when it goes away', async (t) => {
  const written: string[] = [];
  const listeners = new Map<string, () => void>();
  const sink = {
    write(text: string) {
      written.push(text);
      queueMicrotask(() => listeners.get(written.length < 3 ? 'drain' : 'close')?.());
      return false;
    },
    once(event: string, listener: () => void) {
      const before = listeners.get(event);
      listeners.set(event, () => {
        before?.();
        listener();
      });
    },
  };
  await writeAnswers(answersTo(stream('{"op":"later"}\n'.repeat(10)), options), sink);
  t.is(written.length, 3);
});

test('fields name themselves and never their value', (t) => {
  const request = {
    text: 'secret',
    number: 5,
    long: '9007199254740993',
    word: 'secret',
    list: ['secret'],
    nothing: null,
    chain: 'secret',
  };
  const wrong = [
    () => textField(request, 'number'),
    () => integerField(request, 'text', [0, 9]),
    () => integerField(request, 'number', [6, 9]),
    () => integerField(request, 'long', [0, 9]),
    () => integerField(request, 'absent', [0, 9]),
    () => wordField(request, 'word', ['a', 'b']),
    () => objectField(request, 'list'),
    () => listField(request, 'text'),
    () => optionalTextField(request, 'number', ''),
    () => chainField(request),
  ];
  for (const read of wrong) {
    const fault = t.throws(read, { instanceOf: Refused });
    t.false(fault!.message.includes('secret'));
  }
  t.deepEqual(
    [
      integerField(request, 'number', [0, 9]),
      integerField(request, 'absent', [0, 9], 3),
      wordField(request, 'absent', ['a', 'b'], 'b'),
      optionalTextField(request, 'nothing', ''),
      listField(request, 'absent', []),
    ],
    [5, 3, 'b', '', []],
  );
});
