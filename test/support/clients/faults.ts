/**
 * Faults to plant into the built client, each the kind of mistake that somebody shipped: its file, what is there and
 * what is in its place. Every case of the suite names the one that it finds.
 */
export type Fault = readonly [file: 'index' | 'webhooks' | 'units', there: string, instead: string];

const ALWAYS = 'true || ';
const NEVER = 'false && ';

const REQUESTS: Readonly<Record<string, Fault>> = {
  path: ['index', 'url: `${base}${place}${search}`', 'url: `${base}/v2${place}${search}`'],
  'body-in-query': ['index', 'const hasBody = marks.includes("b")', 'const hasBody = false'],
  'no-encoding': ['index', 'return encodeURIComponent(String(value ?? ""))', 'return String(value ?? "")'],
  'rest-keeps-parameters': ['index', 'delete rest[name];', ''],
  'no-query': ['index', 'const search = String(query) === "" ?', `const search = ${ALWAYS}String(query) === "" ?`],
  'no-base-path': [
    'index',
    'return `${url.origin}${url.pathname',
    'return `${url.origin}/${url.pathname.split("/")[1]}${""',
  ],
  slashes: ['index', 'url.pathname.replace(/\\/+$/, "")', 'url.pathname'],
  'no-bearer': ['index', 'authorization: `Bearer ${bearer}`', 'authorization: bearer'],
  'user-agent': ['index', '"user-agent": `flock-typescript/${VERSION}`', '"user-agent": `node on ${process.platform}`'],
  'second-request': [
    'index',
    'const response = await settings.fetch(',
    'await settings.fetch(url, { ...init, signal: stop.signal }); const response = await settings.fetch(',
  ],
  cookies: ['index', 'const sent = { ...headers', 'const sent = { cookie: "a=b", ...headers'],
  'no-key': ['index', 'if (key !== null) sent["idempotency-key"] = key;', ''],
  'own-key-lost': ['index', 'options.idempotencyKey ?? newKey()', 'newKey()'],
  'key-per-attempt': [
    'index',
    'const outcome = await attempt(',
    'if (isKeyed) init.headers["idempotency-key"] = newKey(); const outcome = await attempt(',
  ],
  'any-path': ['index', 'if (/^\\.{0,2}$/.test(String(', 'if (0 && /^\\.{0,2}$/.test(String('],
  'any-query': ['index', '&& typeof value === "object") return', '&& 0) return'],
  'not-a-number': ['index', '!Number.isFinite(one)) throw', '0) throw'],
  'blank-keys': ['index', '/^[!-~](?:[ -~]{0,253}[!-~])?$/', '/^[ -~]{1,255}$/'],
  'any-idempotency-key': ['index', 'if (!KEY_FORM.test(idempotencyKey ?? "-"))', 'if (0)'],
  'fixed-key': ['index', 'options.idempotencyKey ?? newKey()', '"11111111-1111-4111-8111-111111111111"'],
  'key-for-all': ['index', 'const idempotencyKey = isKeyed ?', `const idempotencyKey = ${ALWAYS}isKeyed ?`],
  'key-taken-by-all': [
    'index',
    'if (idempotencyKey !== void 0 && !marks',
    `if (${NEVER}idempotencyKey !== void 0 && !marks`,
  ],
  'error-without-key': [
    'index',
    'const { message: _message, ...rest } = fields;',
    'const { message: _message, idempotencyKey: _key, ...rest } = fields;',
  ],
};

const ATTEMPTS: Readonly<Record<string, Fault>> = {
  'no-retry': ['index', 'attempts > settings.retries', 'attempts > 0'],
  'retries-all': ['index', 'mayRepeat: REPEATED.has(status) };\n  }', 'mayRepeat: true };\n  }'],
  'retries-unkeyed': ['index', '!mayRepeat || attempts', 'attempts'],
  'endless-retries': ['index', '|| attempts > settings.retries', ''],
  'retries-fixed': ['index', 'retries: options.retries ?? RETRIES', 'retries: RETRIES'],
  'network-is-unknown': [
    'index',
    'own("CLIENT_NETWORK", "no whole answer came", reasonOf(error))',
    'own("UPSTREAM_UNAVAILABLE", "no whole answer came")',
  ],
  'no-jitter': ['index', 'backoffMs(attempts - 1, PAUSE, clock.random())', 'backoffMs(attempts - 1, PAUSE, 0)'],
  'no-cap': ['index', 'mostMs: 8e3', 'mostMs: 8e9'],
  'ignores-retry-after': ['index', 'const least = fields.retryAfter ?? 0;', 'const least = 0;'],
  'ignores-zero': ['index', 'const pauseMs = Math.max(', 'const pauseMs = fields.retryAfter === 0 ? 0 : Math.max('],
  'patience-instead': [
    'index',
    'Math.max(least * 1e3, backoffMs(',
    '(fields.retryAfter !== null ? (a) => a : Math.max)(least * 1e3, backoffMs(',
  ],
  'no-dates': ['index', '/[a-z]/i.test(text) ? Math.ceil(', `${NEVER}/[a-z]/i.test(text) ? Math.ceil(`],
  'old-dates': [
    'index',
    'return seconds > 0 ? seconds : null',
    'return Math.abs(seconds) > 0 ? Math.abs(seconds) : null',
  ],
  'lenient-retry-after': [
    'index',
    'if (/^\\d{1,9}$/.test(text)) return Number(text);',
    'if (text !== "9") return Math.ceil(Math.abs(Number(text)) || 5);',
  ],
  'no-patience': ['index', 'PATIENCE_SECONDS = 60', 'PATIENCE_SECONDS = 59'],
  'endless-patience': ['index', 'PATIENCE_SECONDS = 60', 'PATIENCE_SECONDS = 1e12'],
  'no-deadline': [
    'index',
    'const endsAt = clock.now() + (options.deadlineMs ?? settings.deadlineMs)',
    'const endsAt = clock.now() + 6e4',
  ],
  'no-retry-after': ['index', 'retryAfter: retryAfterOf(headers, clock) }', 'retryAfter: null }'],
  'no-limit': ['index', '  }, limitMs);', '  }, 1e9);'],
  'limit-ends-at-head': [
    'index',
    'return answerOf(response, await',
    'clearTimeout(timer); return answerOf(response, await',
  ],
  'call-limit-ignored': ['index', 'options.timeoutMs ?? settings.timeoutMs, endsAt', 'settings.timeoutMs, endsAt'],
  'cut-is-an-answer': [
    'index',
    'own("CLIENT_NETWORK", "no whole answer came", reasonOf(error)), mayRepeat: true',
    'own("CLIENT_NETWORK", "no whole answer came", reasonOf(error)), mayRepeat: false',
  ],
  'unframed-cut': ['index', 'mayRepeat: ok || REPEATED', 'mayRepeat: REPEATED'],
  'abort-ignored': ['index', 'signal?.aborted) ', 'signal?.nothing) '],
  'abort-in-pause': [
    'index',
    'if (options.signal?.aborted) throw error(ABORTED);',
    'if (options.signal?.aborted) throw error(own("CLIENT_NETWORK", "no"));',
  ],
  'abort-repeats': [
    'index',
    'return { fields: ABORTED, mayRepeat: false };',
    'return { fields: own("CLIENT_NETWORK", "no"), mayRepeat: false };',
  ],
};

const ANSWERS: Readonly<Record<string, Fault>> = {
  'closed-answers': ['index', 'return { value: envelope.data };', 'return { value: { id: envelope.data.id } };'],
  'drops-null': [
    'index',
    'return { value: envelope.data };',
    'return { value: JSON.parse(JSON.stringify(envelope.data, (_, v) => v ?? undefined)) };',
  ],
  'only-200': ['index', 'if (ok && envelope?.success === true)', 'if (status === 201 && envelope?.success === true)'],
  'document-parsed': ['index', 'if (isDocument && ok && !isJson)', `if (${NEVER}isDocument && ok && !isJson)`],
  'document-is-text': ['index', 'if (isDocument && ok && !isJson)', 'if (isDocument && ok)'],
  'document-status': ['index', 'if (isDocument && ok && parsed', 'if (isDocument && parsed'],
  float: [
    'index',
    'return JSON.parse(text);',
    'return JSON.parse(text, (_, v) => (/^\\d{9,}$/.test(v) ? String(Number(v)) : v));',
  ],
  'numbers-from-text': [
    'index',
    'body: JSON.stringify(rest)',
    'body: JSON.stringify(rest, (_, v) => (/^\\d+$/.test(v) ? Number(v) : v))',
  ],
  'error-fields': [
    'index',
    'const { message: _message, ...rest } = fields;',
    'const rest = { code: fields.code, status: fields.status };',
  ],
  'unknown-code': [
    'index',
    'const code = envelope?.error?.code;',
    'const code = envelope?.error?.code === "TEAPOT" ? "UPSTREAM_UNAVAILABLE" : envelope?.error?.code;',
  ],
  'details-needed': ['index', 'details: details ?? {}', 'details'],
  'trusts-answers': [
    'index',
    '  const fields = own("CLIENT_NETWORK", `status',
    '  if (ok) return { value: parsed };\n  const fields = own("UNKNOWN", `status',
  ],
  'three-hundreds': ['index', 'status >= 300 && status < 400', 'false'],
  'follows-redirects': ['index', 'redirect: "manual"', 'redirect: "follow"'],
  'error-has-arguments': [
    'index',
    'const error = (fields) => new FlockError({',
    'const error = (fields) => new FlockError({ argument,',
  ],
  'error-has-headers': [
    'index',
    'const error = (fields) => new FlockError({',
    'const error = (fields) => new FlockError({ headers: settings.headers,',
  ],
};

const ARGUMENTS: Readonly<Record<string, Fault>> = {
  'number-ref': ['index', 'if (userRef != null && typeof userRef !== "string") return', 'if (0) return'],
  'long-ref': ['index', 'USER_REF_CHARS_MAX = 255', 'USER_REF_CHARS_MAX = 1e6'],
  'lone-ref': ['index', 'encodeURIComponent(typeof one', 'String(typeof one'],
  'short-ref': ['index', 'USER_REF_CHARS_MAX = 255', 'USER_REF_CHARS_MAX = 254'],
  trims: [
    'index',
    'body: JSON.stringify(rest)',
    'body: JSON.stringify(rest, (_, v) => (typeof v === "string" ? v.trim() : v))',
  ],
  normalizes: ['index', 'body: JSON.stringify(rest)', 'body: JSON.stringify(rest).normalize("NFC")'],
  'no-expect': ['index', 'if (expect !== void 0 && its', `if (${NEVER}expect !== void 0 && its`],
  'never-expected': ['index', 'if (expect !== void 0 && its !== expect)', 'if (expect !== void 0)'],
  'any-key': ['index', 'if (apiKey !== void 0 && (key === null', `if (${NEVER}apiKey !== void 0 && (key === null`],
  'key-with-blanks': ['index', '/[^!-~]/', '/[^ -~\\n]/'],
  'any-address': [
    'index',
    'if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password + url.search + url.hash !== "")',
    'if (url === null)',
  ],
  'address-throws': [
    'index',
    '  } catch {\n  }\n  if (url === null',
    '  } catch (error) {\n throw error;\n  }\n  if (url === null',
  ],
  'any-place': [
    'index',
    'if (isLocalKey === true && marks.includes("c"))',
    'isLocalKey = null; if (isLocalKey === true)',
  ],
};

const LISTS: Readonly<Record<string, Fault>> = {
  'first-page-only': ['index', 'if (next === null || next === void 0) return;', 'return;'],
  'filters-lost': ['index', 'from = { ...argument, after: next }', 'from = { after: next }'],
  'needs-rows': [
    'index',
    'yield* content;',
    'if (content.length === 0) throw new FlockError({ code: "EMPTY" }); yield* content;',
  ],
  'stops-at-an-empty-page': ['index', 'if (next === null || next', 'if (content.length === 0 || next === null || next'],
  'after-lost': ['index', 'let from = argument;', 'let from = {};'],
  prefetches: ['index', 'yield* content;', 'if (next) await call({ ...argument, after: next }, how); yield* content;'],
  circles: ['index', 'if (seen.has(next)) throw', 'if (seen.has(next)) return; if (0) throw'],
  'swallows-refusals': ['index', '= await call(from, how);', '= await call(from, how).catch(() => ({ content: [] }));'],
  'endless-pages': ['index', 'pages < pagesMax', 'pages < 40'],
};

const WEBHOOKS: Readonly<Record<string, Fault>> = {
  hmac: ['webhooks', '`${id}.${time}.`', '`${id}:${time}:`'],
  'text-only': ['webhooks', 'return body instanceof Uint8Array ?', `return ${NEVER}body instanceof Uint8Array ?`],
  'exact-headers': ['webhooks', 'one.toLowerCase() === name', 'one === name'],
  'first-secret-only': ['webhooks', '[secrets].flat()', '[[secrets].flat()[0]]'],
  'first-signature-only': ['webhooks', 'await isSigned(signed, given,', 'await isSigned(signed, given.slice(0, 1),'],
  'prefix-needed': ['webhooks', 'secret.replace(/^whsec_/, "")', 'secret.slice(6)'],
  'any-signature': ['webhooks', 'return no("signature")', ';'],
  'secret-throws': ['webhooks', 'if (!raw?.length) continue;', ''],
  'empty-secret': ['webhooks', 'if (!raw?.length) continue;', 'if (raw?.length === 0) return true;'],
  'any-version': [
    'webhooks',
    'one.startsWith("v1,") ? fromBase64(one.slice(3))',
    'one ? fromBase64(one.replace(/^v1,/, ""))',
  ],
  'signature-throws': ['webhooks', 'claimed !== null && ', 'claimed.length && '],
  'prefix-compared': ['webhooks', 'await subtle.verify("HMAC", key, claimed, signed)', 'claimed.length === 16'],
  tolerance: ['webhooks', 'TOLERANCE_SECONDS = 300', 'TOLERANCE_SECONDS = 299'],
  'no-time': ['webhooks', 'if (!(age <= toleranceSeconds))', 'if (false)'],
  'no-tolerance': ['webhooks', 'if (!(age <= toleranceSeconds))', 'if (age > toleranceSeconds)'],
  'future-is-old': ['webhooks', 'no("too_new")', 'no("too_old")'],
  'tolerance-ignored': ['webhooks', 'age <= toleranceSeconds', 'age <= 300'],
  'recordings-refused': ['webhooks', 'ignoreTimestamp ? 0 :', 'false ? 0 :'],
  'headers-optional': ['webhooks', 'return no("headers")', ';'],
  'dotted-ids': ['webhooks', '|| id.includes(".")', ''],
  'any-time': ['webhooks', '!/^\\d{1,12}$/.test(time)', '!time'],
  'any-number': ['webhooks', 'given[SIGNATURES_MAX]', 'given[99]'],
  'parses-again': [
    'webhooks',
    'if (bytes === null) return no("parsed_body");',
    'if (bytes === null) return verifyWebhook(JSON.stringify(body), headers, secrets, { now, ignoreTimestamp });',
  ],
  'body-throws': [
    'webhooks',
    'return typeof event?.event === "string" && event.data && typeof event.data === "object" ? event : null;\n  } catch {',
    'return event.event ? event : null;\n  } catch (error) {\n throw error;',
  ],
  'any-body': [
    'webhooks',
    'typeof event?.event === "string" && event.data && typeof event.data === "object" ? event : null',
    '({ data: {}, ...event, id: "evt_1" })',
  ],
  'any-id': ['webhooks', 'event?.id === id ?', 'event ?'],
  'closed-events': ['webhooks', 'event?.id === id ?', 'event?.id === id && event.event !== "brand_new" ?'],
};

const UNITS: Readonly<Record<string, Fault>> = {
  decimals: [
    'units',
    'return BigInt(match[1] + places.padEnd(decimals, "0"))',
    'return BigInt(match[1] + places.padEnd(decimals + 1, "1"))',
  ],
  'float-units': [
    'units',
    'return BigInt(match[1] + places.padEnd(decimals, "0"))',
    'return BigInt(Math.floor(Number(decimal) * 10 ** decimals))',
  ],
  'lenient-units': [
    'units',
    'if (!match || !isPlaces(decimals) || places.length > decimals)',
    'if (!match || !isPlaces(decimals) || places.length > decimals) return 0n; if (0)',
  ],
  'decimals-from': ['units', 'const at = digits.length - decimals;', 'const at = digits.length - decimals - 1;'],
  'pad-from': ['units', '.padStart(decimals + 1, "0")', ''],
  'zeros-from': ['units', '.replace(/0+$/, "")', ''],
  'sign-from': ['units', '`${amount < 0n ? "-" : ""}', '`'],
  'float-from': ['units', 'const amount = BigInt(units);', 'const amount = BigInt(Number(units));'],
  'lenient-from': [
    'units',
    'if (!isWhole || !isPlaces(decimals)) throw',
    'if (!isWhole || !isPlaces(decimals)) return "0"; if (0) throw',
  ],
};

export const FAULTS: Readonly<Record<string, Fault>> = {
  ...REQUESTS,
  ...ATTEMPTS,
  ...ANSWERS,
  ...ARGUMENTS,
  ...LISTS,
  ...WEBHOOKS,
  ...UNITS,
};
