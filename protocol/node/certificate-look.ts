/**
 * How long the certificate at an https address is still good, as this machine sees it. It is looked at when somebody
 * asks, at most once an hour, and nobody waits for that: the first answer comes with a later question. Ecosystem X49.
 */
import { connect } from 'node:tls';

const AGAIN_MS = 3_600_000;
const LIMIT_MS = 10_000;
const DAY_MS = 86_400_000;

/** Days until it ends, negative when it has; null while nothing is known, and of an address without TLS. */
export function createCertificateLook(url: string, nowMs: () => number = Date.now): () => number | null {
  const { protocol, hostname, port } = new URL(url);
  let endsMs: number | null = null,
    lookedMs = Number.NEGATIVE_INFINITY;
  if (protocol !== 'https:') return () => null;
  return () => {
    const now = nowMs();
    if (now - lookedMs >= AGAIN_MS) {
      lookedMs = now;
      look(hostname.replace(/^\[|\]$/g, ''), Number(port || 443), (found) => {
        endsMs = found;
      });
    }
    return endsMs === null ? null : (endsMs - now) / DAY_MS;
  };
}

/** Nothing is sent but the handshake. Whether it is trusted is not asked: one that has ended is to be seen. */
function look(host: string, port: number, found: (endsMs: number) => void): void {
  const socket = connect({
    host,
    port,
    rejectUnauthorized: false,
    ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
  });
  socket.unref();
  socket.setTimeout(LIMIT_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.once('secureConnect', () => {
    const endsMs = Date.parse(socket.getPeerCertificate().valid_to);
    if (Number.isFinite(endsMs)) found(endsMs);
    socket.destroy();
  });
}
