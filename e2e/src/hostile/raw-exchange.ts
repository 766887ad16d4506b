import { connect } from 'node:net';

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
