/**
 * Opening a socket to one vetted address, and to nothing else (S1, S4).
 *
 * The address was vetted when its name was resolved; here it is vetted once more, as the very literal that is
 * connected to, so that no resolver, redirect or rebinding name stands between the decision and the socket.
 *
 * 1. Only an address literal is connected to, only on the target's port; no look-up takes place.
 * 2. The peer's address is compared after the handshake, before any request is written.
 * 3. TLS is verified against the name in the URL: a certificate for another name is a failure, not a warning.
 */
import { X509Certificate } from 'node:crypto';
import { connect as connectTcp, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { VettedAddress } from '../domain/fetching.js';
import { connectFault, Fault } from './failure.js';
import { canonicalAddress, type GuardRules, vet } from './guard.js';

/** Where a socket leads. */
export interface Target {
  readonly address: VettedAddress;
  readonly port: number;
  readonly secure: boolean;
  /** What the certificate must be for; null where the URL names an address (RFC 6066 §3: no SNI then). */
  readonly serverName: string | null;
  /** What is offered in the TLS handshake, the best first (RFC 7301); HTTP/1.1 where nothing is said. */
  readonly protocols?: readonly ('h2' | 'http/1.1')[];
}

export interface Trust {
  readonly guard: GuardRules;
  readonly secureContext: SecureContext;
}

/** Exactly one of the two is called, once. */
export interface Opening {
  opened(socket: Socket): void;
  failed(fault: Fault): void;
}

/** What the kernel's buffer is read into; the same as for files. */
const READ_AHEAD_BYTES = 64 * 1024;

/** The target of an origin at an address. The origin's trailing dot and brackets are no part of a server's name. */
export function targetOf(origin: string, address: VettedAddress): Target {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === 'https:';
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return {
    address,
    secure,
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    serverName: canonicalAddress(name.replace(/^\[|\]$/g, '')) === null ? name : null,
  };
}

/**
 * What servers are trusted by: the roots of the platform, and those in `ca` (PEM) beside them. Made once, since
 * reading the roots takes longer than a handshake.
 * @throws Error when `ca` is no PEM certificate
 */
export function secureContextOf(ca: string | undefined): SecureContext {
  if (ca === undefined) return createSecureContext();
  try {
    // The context itself takes anything for a certificate, and trusts nothing more for it.
    new X509Certificate(ca);
  } catch (error) {
    throw new Error(`tls.ca is not a PEM certificate: ${(error as Error).message}`);
  }
  return createSecureContext({ ca: [...rootCertificates, ca] });
}

/**
 * Opens a socket. `begun` gets it at once, so that it can be destroyed while it is still connecting; a socket
 * destroyed with a `Fault` reports that fault.
 */
export function openGuarded(target: Target, trust: Trust, begun: (socket: Socket) => void, opening: Opening): void {
  const vetting = vet(target.address.address, trust.guard);
  if (!vetting.ok) {
    queueMicrotask(() => opening.failed(new Fault('guard_refused', vetting.detail)));
    return;
  }
  const expected = vetting.address.address;
  const socket = target.secure ? dialTls(expected, target, trust.secureContext) : dialTcp(expected, target);
  begun(socket);

  let handshaking = false;
  let settled = false;
  socket.once('connect', () => {
    handshaking = target.secure;
  });
  socket.once(target.secure ? 'secureConnect' : 'connect', () => {
    const actual = canonicalAddress(socket.remoteAddress ?? '');
    if (actual !== expected) {
      socket.destroy(new Fault('guard_refused', `connected to ${actual ?? 'no address'} instead of ${expected}`));
      return;
    }
    settled = true;
    opening.opened(socket);
  });
  // Stays for the life of the socket: whoever uses it has listeners of his own, and without any an error is fatal.
  socket.on('error', (error) => {
    if (settled) return;
    settled = true;
    opening.failed(connectFault(error, handshaking));
  });
}

function dialTcp(address: string, { port }: Target): Socket {
  const options: TcpNetConnectOpts & { highWaterMark: number } = {
    host: address,
    port,
    noDelay: true,
    highWaterMark: READ_AHEAD_BYTES,
  };
  return connectTcp(options);
}

function dialTls(address: string, target: Target, secureContext: SecureContext): Socket {
  const socket = connectTls({
    host: address,
    port: target.port,
    secureContext,
    rejectUnauthorized: true,
    ALPNProtocols: [...(target.protocols ?? ['http/1.1'])],
    ...(target.serverName === null ? {} : { servername: target.serverName }),
  });
  socket.setNoDelay(true);
  return socket;
}
