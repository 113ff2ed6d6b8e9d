import { createSocket } from 'node:dgram'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'

/**
 * A program that sends and gets traffic in a network namespace of a test: `serve <port>` answers every byte
 * of TCP with the same byte, sends its own lines to all connections, and prints every datagram and sends it
 * back; `connect <host> <port> <from>` sends its lines and prints what comes back; `datagram <host> <port>
 * <from> <text>` sends one datagram; `ask <host> <port>` sends its lines as datagrams and prints what comes
 * back from exactly that address.
 */
const [mode = '', ...args] = process.argv.slice(2)
const modes: Readonly<Record<string, () => void>> = { serve, connect: connectTo, datagram, ask }
modes[mode]?.()

function serve(): void {
  const port = Number(args[0])
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    socket.pipe(socket)
  })
  createInterface(process.stdin).on('line', (line) => {
    for (const socket of open) socket.write(`${line}\n`)
  })
  const datagrams = createSocket('udp4', (message, from) => {
    say(`${from.address} ${message.toString()}`)
    datagrams.send(message, from.port, from.address)
  })
  datagrams.on('error', () => undefined)
  server.listen(port, '0.0.0.0', () => datagrams.bind(port, () => say('ready')))
}

function connectTo(): void {
  const [host = '', port = '', from = ''] = args
  const socket = connect({ host, port: Number(port), localAddress: from }, () => say('connected'))
  socket.on('error', (error) => say(`failed ${error.message}`))
  createInterface(socket)
    .on('line', say)
    .on('error', () => undefined)
  process.stdin.pipe(socket)
}

function datagram(): void {
  const [host = '', port = '', from = '', text = ''] = args
  const socket = createSocket('udp4')
  socket.bind(0, from, () => socket.send(text, Number(port), host, () => socket.close()))
}

function ask(): void {
  const [host = '', port = ''] = args
  const socket = createSocket('udp4')
  socket
    .on('error', (error) => say(`failed ${error.message}`))
    .on('message', (message) => say(message.toString()))
  socket.connect(Number(port), host, () =>
    createInterface(process.stdin).on('line', (line) => socket.send(line)),
  )
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
