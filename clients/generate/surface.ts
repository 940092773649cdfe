/**
 * What an operator's files depend on beside the contract: metrics with their labels, settings, exit codes of the
 * command line, fields of log lines. A release freezes it as it does the contract, to compare the next one with. X73.
 */
import { readFileSync } from 'node:fs';
import { EXIT } from '../cli/answer.ts';
import { CLOUD_METRICS } from '../../protocol/metrics/cloud.ts';
import { EDGE_METRICS } from '../../protocol/metrics/edge.ts';
import type { MetricCatalogue } from '../../protocol/metrics/metric.ts';
import { VERSION } from '../../protocol/version.ts';

export interface Surface {
  readonly version: string;
  /** Kind and names of labels by metric. */
  readonly metrics: Readonly<Record<string, string>>;
  readonly settings: readonly string[];
  readonly exitCodes: Readonly<Record<string, number>>;
  readonly logFields: readonly string[];
}

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Words in backticks of the first column of tables: the documents are held to the code by tests of their own. */
function firstColumn(markdown: string, word: RegExp): string[] {
  const cells = markdown.split('\n').flatMap((line) => (line.startsWith('|') ? [line.split('|')[1]!] : []));
  const words = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!));
  return [...new Set(words.filter((text) => word.test(text)))].sort();
}

const metricsOf = (catalogue: MetricCatalogue): [string, string][] =>
  Object.entries(catalogue).map(([name, { kind, labels }]) => [
    name,
    [kind, ...Object.keys(labels).map((label) => `{${label}}`)].join(' '),
  ]);

/** Of the tree as it is. */
export function surfaceNow(): Surface {
  const [fields] = textOf('docs/logs.md').split('\n## ');
  return {
    version: VERSION,
    metrics: Object.fromEntries([...metricsOf(CLOUD_METRICS), ...metricsOf(EDGE_METRICS)].sort()),
    settings: firstColumn(textOf('docs/configuration.md'), /^(?:<CHAIN>_)?[A-Z][A-Z0-9_]*(?:_<CHAIN>)?$/),
    exitCodes: EXIT,
    logFields: firstColumn(fields!, /^[a-zA-Z]+$/),
  };
}

export const surfaceText = (surface: Surface): string => `${JSON.stringify(surface, null, 2)}\n`;
