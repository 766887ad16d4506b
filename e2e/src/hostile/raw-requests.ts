import { connect } from 'node:net';

const end = 'Connection: close\r\n\r\n';
const get = (path: string, ...lines: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', 'Authorization: Bearer KEY', ...lines, end].join('\r\n');
const post = (body: string, ...lines: string[]) =>
  [
    'POST /api/worlds HTTP/1.1',
    'Host: x',
    'Authorization: Bearer KEY',
    'Content-Type: application/json',
    ...lines,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
const GONE = `0x${'0'.repeat(40)}`;

/** Bytes that no client sends by accident; `KEY` stands for a key. */
export const rawRequests: readonly [what: string, bytes: string][] = [
  ['no HTTP', 'nonsense\r\n\r\n'],
  ['another protocol', '\u0016\u0003\u0001\u0002\u0000\u0001'],
  ['64 KiB of headers', get('/api/worlds', `X-Long: ${'x'.repeat(65_536)}`)],
  ['3,000 headers', get('/api/worlds', ...Array.from({ length: 3000 }, (_, i) => `X-${i}: 1`))],
  ['two different lengths', post('{}', 'Content-Length: 2', 'Content-Length: 3')],
  ['a length and chunks', post('0\r\n\r\n', 'Content-Length: 2', 'Transfer-Encoding: chunked')],
  ['a length with a sign', post('{}', 'Content-Length: +2')],
  ['a negative length', post('{}', 'Content-Length: -2')],
  ['chunks of another coding', post('0\r\n\r\n', 'Transfer-Encoding: xchunked')],
  ['a chunk without a size', post('zz\r\n{}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked')],
  ['two tokens', get('/api/worlds', 'Authorization: Bearer KEY')],
  ['no host', 'GET /api/worlds HTTP/1.1\r\n\r\n'],
  ['two hosts', get('/api/worlds', 'Host: y')],
  ['a line folded', get('/api/worlds', 'X-Fold: a\r\n b')],
  ['a null byte in the path', get('/api/worlds/\0')],
  ['an escape of nothing', get('/api/worlds/%zz')],
  ['no UTF-8 in the path', get('/api/worlds/%ff%fe')],
  ['dots', get('/api/worlds/../../../etc/passwd')],
  ['dots in percent', get('/api/worlds/%2e%2e/%2e%2e%2fetc')],
  ['dots encoded twice', get(`/api/worlds/${GONE}/events/%252e%252e%252f`)],
  ['U+0000 in percent', get(`/api/worlds/${GONE}/events/%00`)],
  ['a backslash', get('/api\\worlds')],
  ['slashes', get('//api//worlds')],
  ['another authority', get('http://other.example/api/worlds')],
  ['an asterisk', get('*')],
  ['a long path', get(`/api/worlds/${'x'.repeat(12_000)}`)],
  ['an upgrade', get('/api/worlds', 'Upgrade: websocket')],
  ['a page too far', get('/api/worlds?page=1e9')],
  ['a page beyond numbers', get(`/api/worlds?page=${'9'.repeat(400)}`)],
  ['a query as an array', get('/api/worlds?page[]=1&page[]=2')],
  ['a query twice', get('/api/worlds?page=1&page=2')],
  ['a query that pollutes', get('/api/worlds?__proto__[a]=1&constructor=2')],
  ['2,000 query parameters', get(`/api/worlds?${'a=1&'.repeat(2000)}`)],
  ['an expectation', post('{}', 'Content-Length: 2', 'Expect: 200-maybe')],
  ['a coding of the body', post('{}', 'Content-Length: 2', 'Content-Encoding: gzip')],
  ['PRI', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['TRACE', `TRACE /api/worlds HTTP/1.1\r\nHost: x\r\n${end}`],
];

/** Sends bytes and gives what came back once the server has closed the connection. */
export function rawExchange(url: string, sent: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
    });
    // A reset is a closed connection too.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
    socket.write(sent);
  });
}
