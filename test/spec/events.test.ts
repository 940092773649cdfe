import test from 'ava';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { envelopeOf, EVENT_CATALOGUE, exampleOf } from '../../protocol/schema/events.ts';
import { EVENTS, type EventName } from '../../protocol/slugs.ts';
import { eventDocument } from '../support/event-catalogue.ts';
import { codesIn, documentText, sectionOf, tableRows } from '../support/documents.ts';

const SECTION = sectionOf(documentText('spec.md'), '## 6. Events');

test('§6 every event of the table is in the catalogue with a schema, an example and when it is sent', (t) => {
  const named = tableRows(SECTION).flatMap(([names]) => codesIn(names!));
  t.true(named.length >= 12);
  for (const name of named) t.true((EVENTS as readonly string[]).includes(name), name);
  t.deepEqual(Object.keys(EVENT_CATALOGUE).toSorted(), [...EVENTS].toSorted());
  for (const event of EVENTS) t.regex(EVENT_CATALOGUE[event].when, /^[A-Z].+\.$/, event);
});

test('decisions 4: the events beyond the spec are in the catalogue', (t) => {
  const line = documentText('decisions.md')
    .split('\n')
    .find((text) => text.includes('Event names beyond'))!;
  const names = codesIn(line.slice(line.indexOf(':'))).filter((code) => /^[a-z_]+$/.test(code));
  t.true(names.length >= 7);
  for (const name of names) t.true((EVENTS as readonly string[]).includes(name), name);
});

test('§6 envelope and deposit data have the fields of the specification', (t) => {
  const { properties } = z.toJSONSchema(envelopeOf('deposit_confirmed')) as {
    properties: Record<string, { properties?: object }>;
  };
  t.deepEqual(Object.keys(properties).toSorted(), [
    'confirmations',
    'data',
    'environment',
    'event',
    'id',
    'threshold',
    'timestamp',
  ]);
  const fields = Object.keys(properties['data']!.properties!);
  for (const field of [
    'chain',
    'txid',
    'address',
    'amount',
    'amountFormatted',
    'decimals',
    'userRef',
    'tag',
    'outputIndex',
    'tokenContract',
    'tokenSymbol',
    'incarnation',
  ]) {
    t.true(fields.includes(field), field);
  }
});

test('issue 4.10: docs/events.md is what the catalogue says: every event with its fields, an example and when it is sent', (t) => {
  const text = documentText('events.md');
  t.is(text, eventDocument(), 'out of date: npm run -s docs:events');
  for (const event of EVENTS) {
    const section = sectionOf(text, `## \`${event}\``);
    t.true(section.includes(EVENT_CATALOGUE[event].when), event);
    t.deepEqual(JSON.parse(/```json\n([\s\S]*?)```/.exec(section)![1]!), exampleOf(event), event);
  }
});

test('issue 4.9: the documents say what order holds and what may be overtaken', (t) => {
  const text = documentText('webhooks.md').replaceAll(/\s+/g, ' ');
  t.true(text.includes('first attempts leave in the order in which the events were published'));
  t.true(text.includes('A retry or a replay may be overtaken'));
});

for (const event of EVENTS) {
  test(`§6 the example of ${event} is what its schema says, by two validators`, (t) => {
    const example = exampleOf(event satisfies EventName);
    t.true(envelopeOf(event).safeParse(example).success);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(z.toJSONSchema(envelopeOf(event)) as object);
    t.true(validate(JSON.parse(JSON.stringify(example))), JSON.stringify(validate.errors));
  });
}
