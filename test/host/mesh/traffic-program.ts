import { createSocket } from 'node:dgram'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'

/**
 * A program that sends and gets traffic in a network namespace of a test: `serve <port>` answers every byte
 * of TCP with the same byte and prints every datagram; `connect <host> <port> <from>` sends its lines and
 * prints what comes back; `datagram <host> <port> <from> <text>` sends one datagram.
 */
const [mode = '', ...args] = process.argv.slice(2)
const modes: Readonly<Record<string, () => void>> = { serve, connect: connectTo, datagram }
modes[mode]?.()

function serve(): void {
  const port = Number(args[0])
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  const datagrams = createSocket('udp4', (message, from) => say(`${from.address} ${message.toString()}`))
  server.listen(port, '0.0.0.0', () => datagrams.bind(port, () => say('ready')))
}

function connectTo(): void {
  const [host = '', port = '', from = ''] = args
  const socket = connect({ host, port: Number(port), localAddress: from }, () => say('connected'))
  socket.on('error', (error) => say(`failed ${error.message}`))
  createInterface(socket).on('line', say)
  process.stdin.pipe(socket)
}

function datagram(): void {
  const [host = '', port = '', from = '', text = ''] = args
  const socket = createSocket('udp4')
  socket.bind(0, from, () => socket.send(text, Number(port), host, () => socket.close()))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
