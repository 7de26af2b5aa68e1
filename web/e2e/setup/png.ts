/** Lossless compression of screenshots. */
import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = 8;
const TYPE = 4;
/** The length and the type before the data of a chunk, and the checksum after it. */
const HEAD = 8;
const CHECKSUM = 4;

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** The same picture in fewer bytes: interfaces compress best without filters, with the highest level. */
export function compress(png: Buffer): Buffer {
  const chunks = [...chunksOf(png)];
  const header = chunks[0]?.data;
  if (!header) return png;
  const [width, channels] = [header.readUInt32BE(0), header[9] === 6 ? 4 : 3];
  const pixels = chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data);
  const unfiltered = withoutFilters(inflateSync(Buffer.concat(pixels)), width * channels, channels);
  const data = deflateSync(unfiltered, { level: 9, memLevel: 9 });
  const compressed = Buffer.concat([
    png.subarray(0, SIGNATURE),
    encode({ type: "IHDR", data: header }),
    encode({ type: "IDAT", data }),
    encode({ type: "IEND", data: Buffer.alloc(0) }),
  ]);
  return compressed.length < png.length ? compressed : png;
}

function* chunksOf(png: Buffer): Generator<Chunk> {
  for (let at = SIGNATURE; at < png.length; ) {
    const end = at + HEAD + png.readUInt32BE(at);
    yield { type: png.toString("latin1", at + TYPE, at + HEAD), data: png.subarray(at + HEAD, end) };
    at = end + CHECKSUM;
  }
}

function encode({ type, data }: Chunk): Buffer {
  const chunk = Buffer.alloc(HEAD + data.length + CHECKSUM);
  chunk.writeUInt32BE(data.length);
  chunk.write(type, TYPE, "latin1");
  data.copy(chunk, HEAD);
  chunk.writeUInt32BE(crc32(chunk.subarray(TYPE, HEAD + data.length)), HEAD + data.length);
  return chunk;
}

/** https://www.w3.org/TR/png-3/#D-CRCAppendix */
function crc32(data: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** The rows of a picture, each after a byte 0, which means "no filter". */
function withoutFilters(rows: Buffer, stride: number, channels: number): Buffer {
  const result = Buffer.from(rows);
  for (let start = 0; start < result.length; start += stride + 1) {
    const filter = result[start] ?? 0;
    result[start] = 0;
    for (let x = 1; x <= stride; x += 1) {
      const left = x > channels ? (result[start + x - channels] ?? 0) : 0;
      const above = start > 0 ? (result[start + x - stride - 1] ?? 0) : 0;
      const corner = start > 0 && x > channels ? (result[start + x - stride - 1 - channels] ?? 0) : 0;
      const predicted = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      result[start + x] = ((result[start + x] ?? 0) + predicted) & 255;
    }
  }
  return result;
}

/** https://www.w3.org/TR/png-3/#9Filter-type-4-Paeth */
function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner;
  const [toLeft, toAbove, toCorner] = [left, above, corner].map((value) => Math.abs(estimate - value)) as [
    number,
    number,
    number,
  ];
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}
