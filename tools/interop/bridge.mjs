// usage: node bridge.mjs PORTFILE PROGRAM ARGUMENT...
// Streamable HTTP in front of a stdio server, as much of it as the conformance suite uses: one process for each session,
// every request answered as one JSON body, notifications of the server dropped unless a request waits for them.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [, , portFile, program, ...args] = process.argv;
const sessions = new Map();

function open() {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', line => {
    const message = JSON.parse(line);
    const answer = waiting.get(JSON.stringify(message.id));
    if (answer && !message.method) { waiting.delete(JSON.stringify(message.id)); answer(message) }
  });
  return { child, waiting };
}

function body(request) {
  return new Promise((resolve, reject) => {
    const parts = [];
    request.on('data', p => parts.push(p)).on('end', () => resolve(Buffer.concat(parts).toString())).on('error', reject);
  });
}

function refuse(response, status, code, message) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }));
}

const local = host => /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);

const server = createServer(async (request, response) => {
  // A page on another site must not reach the server under a name of its own.
  const origin = request.headers.origin;
  if (!local(request.headers.host ?? '') || (origin && !local(new URL(origin).host))) return refuse(response, 403, -32000, 'not a local origin');
  if (request.method === 'DELETE') {
    sessions.get(request.headers['mcp-session-id'])?.child.stdin.end();
    return response.writeHead(200).end();
  }
  if (request.method !== 'POST') return response.writeHead(405).end();
  let message;
  try { message = JSON.parse(await body(request)) } catch { return refuse(response, 400, -32700, 'not JSON') }
  let id = request.headers['mcp-session-id'];
  if (message.method === 'initialize') { id = randomUUID(); sessions.set(id, open()) }
  const session = sessions.get(id);
  if (!session) return refuse(response, id ? 404 : 400, -32000, 'no such session');
  if (message.id === undefined || message.method === undefined) {
    session.child.stdin.write(JSON.stringify(message) + '\n');
    return response.writeHead(202).end();
  }
  const answer = new Promise(resolve => session.waiting.set(JSON.stringify(message.id), resolve));
  session.child.stdin.write(JSON.stringify(message) + '\n');
  response.writeHead(200, { 'Content-Type': 'application/json', 'Mcp-Session-Id': id });
  response.end(JSON.stringify(await answer));
});
server.listen(0, '127.0.0.1', () => writeFileSync(portFile, String(server.address().port)));
process.on('SIGTERM', () => { for (const s of sessions.values()) s.child.stdin.end(); server.closeAllConnections(); server.close(() => process.exit(0)) });
