/* The two parts of RFC 6455 that this sample needs: the answer to a key, and the reading of a frame. */
#ifndef COUNTER_WEBSOCKET_H
#define COUNTER_WEBSOCKET_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WS_TEXT = 1, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10, WS_MAX_PAYLOAD = 4096 };

static inline uint32_t ws_rotate(uint32_t x, int by) { return (x << by) | (x >> (32 - by)); }

static inline void ws_sha1_block(uint32_t h[5], const unsigned char *p) {
  uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
  for (int i = 0; i < 16; i++) w[i] = (uint32_t)p[4 * i] << 24 | p[4 * i + 1] << 16 | p[4 * i + 2] << 8 | p[4 * i + 3];
  for (int i = 16; i < 80; i++) w[i] = ws_rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  for (int i = 0; i < 80; i++) {
    uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 ? b ^ c ^ d : i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
    uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
    uint32_t t = ws_rotate(a, 5) + f + e + k + w[i];
    e = d, d = c, c = ws_rotate(b, 30), b = a, a = t;
  }
  h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

/* Writes `Sec-WebSocket-Accept` for a key of at most 64 bytes. `accept` has room for 29 bytes. */
static inline void ws_accept(const char *key, size_t length, char *accept) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned char block[128] = {0}, digest[21] = {0};
  uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  memcpy(block, key, length);
  memcpy(block + length, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11", 36);
  size_t total = length + 36, blocks = total < 56 ? 1 : 2;
  block[total] = 0x80;
  block[blocks * 64 - 2] = (unsigned char)(total * 8 >> 8);
  block[blocks * 64 - 1] = (unsigned char)(total * 8);
  for (size_t i = 0; i < blocks; i++) ws_sha1_block(h, block + 64 * i);
  for (int i = 0; i < 20; i++) digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
  for (int i = 0; i < 7; i++) {
    uint32_t three = (uint32_t)digest[3 * i] << 16 | digest[3 * i + 1] << 8 | digest[3 * i + 2];
    for (int j = 0; j < 4; j++) accept[4 * i + j] = letters[three >> (18 - 6 * j) & 63];
  }
  accept[27] = '=';
  accept[28] = '\0';
}

/*
 * Reads one whole masked frame at `bytes` and unmasks its payload in place. Returns the length of the frame
 * in bytes, 0 if it is not complete yet, and -1 if it is not masked or longer than this sample accepts.
 */
static inline int ws_frame(unsigned char *bytes, size_t length, int *opcode, unsigned char **payload, size_t *size) {
  if (length < 2) return 0;
  size_t at = 2, count = bytes[1] & 127;
  if (count == 127 || !(bytes[1] & 128)) return -1;
  if (count == 126) {
    if (length < 4) return 0;
    count = (size_t)bytes[2] << 8 | bytes[3];
    at = 4;
  }
  if (count > WS_MAX_PAYLOAD) return -1;
  if (length < at + 4 + count) return 0;
  const unsigned char *mask = bytes + at;
  *opcode = bytes[0] & 15;
  *payload = bytes + at + 4;
  *size = count;
  for (size_t i = 0; i < count; i++) (*payload)[i] ^= mask[i % 4];
  return (int)(at + 4 + count);
}
#endif
