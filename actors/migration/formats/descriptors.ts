/**
 * Output descriptors: one a line with its checksum, and optionally ` range=0-999`. The checksum is over the text as it
 * is written: `h` and `'` are two texts. A record of BSMS 1.0 (BIP-129) is one template, the paths that it restricts
 * itself to, and the first address.
 */
import { parseDescriptor } from '../../../chains/btc/descriptor.ts';
import { descriptorChecksum } from '../../../chains/btc/descriptor-checksum.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { HARDENED } from '../../../chains/secp256k1.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { wrongLine } from './csv.ts';
import { fault, type Found, type LineReader, type Range } from './entry.ts';
import { DEFAULT_RANGE } from './limits.ts';

const LINE = /^(\S+)(?:\s+range=([0-9]{1,10})(?:-([0-9]{1,10}))?)?$/;
const BSMS = 'BSMS 1.0';
const PATHS = /^\/[0-9]{1,10}\/\*(?:,\/[0-9]{1,10}\/\*)*$/;

export function createDescriptorReader(): LineReader {
  /** Lines of a BSMS record that have been read; null outside of one. */
  let record: { readonly line: number; readonly texts: string[] } | null = null;

  function recorded(text: string): Found[] {
    const { line, texts } = record!;
    texts.push(text);
    if (texts.length < 3) return [];
    record = null;
    const [template, paths, firstAddress] = texts as [string, string, string];
    const descriptor = descriptorOf(template, paths);
    return descriptor === null
      ? [fault(line + 2, 'malformed_descriptor', 'expected path restrictions as `/0/*,/1/*`')]
      : found(line + 1, descriptor, null, firstAddress);
  }

  return {
    line(line) {
      const text = line.text.trim();
      if (line.wrong !== null) return [wrongLine(line)];
      if (record !== null) return recorded(text);
      if (text === '' || text.startsWith('#')) return [];
      if (text === BSMS) {
        record = { line: line.number, texts: [] };
        return [];
      }
      const [, written, first, last] = LINE.exec(text) ?? [];
      if (written === undefined)
        return [fault(line.number, 'malformed_descriptor', 'expected a descriptor and `range=first-last`')];
      if (first === undefined) return found(line.number, written, null, null);
      const range = { first: Number(first), last: Number(last ?? first) };
      return range.first <= range.last && range.last < HARDENED
        ? found(line.number, written, range, null)
        : [fault(line.number, 'malformed_descriptor', 'expected range=first-last with last below 2147483648')];
    },
    end: () => (record === null ? [] : [fault(record.line, 'malformed_descriptor', 'a BSMS record has four lines')]),
  };
}

function found(line: number, text: string, range: Range | null, firstAddress: string | null): Found[] {
  const descriptor = parseDescriptor(bitcoin, text);
  if (isRefusal(descriptor)) {
    const reason = String(descriptor.details['reason']);
    return [fault(line, /checksum/.test(reason) ? 'descriptor_checksum' : 'malformed_descriptor', reason)];
  }
  const isDefault = descriptor.ranged && range === null;
  const warning = `no range: indexes ${DEFAULT_RANGE.first} to ${DEFAULT_RANGE.last} are taken`;
  return [
    ...(isDefault ? [fault(line, 'default_range', warning, { isWarning: true })] : []),
    {
      kind: 'descriptor',
      line,
      descriptor,
      firstAddress,
      range: descriptor.ranged ? (range ?? DEFAULT_RANGE) : { first: 0, last: 0 },
    },
  ];
}

/** A template's keys end with `/**`, which stands for the branches that the record names. Source: BIP-129. */
function descriptorOf(template: string, paths: string): string | null {
  const none = /^no path restrictions$/i.test(paths);
  if (!none && !PATHS.test(paths)) return null;
  const branches = none ? ['0', '1'] : paths.split(',').map((path) => path.split('/')[1]!);
  const steps = branches.length === 1 ? `/${branches[0]}/*` : `/<${branches.join(';')}>/*`;
  const [body, checksum] = template.split('#') as [string, string?];
  if (checksum !== undefined && descriptorChecksum(body) !== checksum) return template; // its fault is found there
  const written = body.replaceAll('/**', steps);
  return `${written}#${descriptorChecksum(written) ?? ''}`;
}
