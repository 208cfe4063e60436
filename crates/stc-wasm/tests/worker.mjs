// A Worker for workerd: encodes the body of a request, or decodes it at /decode. The module comes by import.
import { STCError, load } from "./index.mjs";
import module from "./stc.wasm";

const stc = await load(module);

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    try {
      const body = new Uint8Array(await request.arrayBuffer());
      return new Response(pathname === "/decode" ? stc.decode(body) : stc.encode(body, pathname.slice(1)));
    } catch (error) {
      if (error instanceof STCError) return new Response(`${error.kind} ${error.offset}`, { status: 422 });
      throw error;
    }
  },
};
