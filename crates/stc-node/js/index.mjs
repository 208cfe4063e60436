import stc from "./index.cjs";

export const {
  STCError,
  Encoder,
  Decoder,
  EncoderStream,
  DecoderStream,
  encode,
  decode,
  encodeAsync,
  decodeAsync,
  stringify,
  parse,
  legend,
  estimateTokens,
  formats,
  version,
} = stc;
export default stc;
