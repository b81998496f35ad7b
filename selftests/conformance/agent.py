# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The control agent of the device under test, seen from the suite.

The protocol is in Documentation/conformance.rst. While an answer is awaited the
scripted peer goes on answering packets: the device may need it.
"""
import socket
import time

SUCCESS, LOC_LEN_ERR, LOC_QP_OP_ERR = 0, 1, 2
LOC_PROT_ERR, WR_FLUSH_ERR = 4, 5
REM_INV_REQ_ERR, REM_ACCESS_ERR, REM_OP_ERR = 9, 10, 11
RETRY_EXC_ERR, RNR_RETRY_EXC_ERR = 12, 13
STATUS = {0: "success", 1: "local length error", 2: "local QP error", 4: "local protection error",
          5: "flushed", 9: "remote invalid request", 10: "remote access error",
          11: "remote operation error", 12: "retry exceeded", 13: "RNR retry exceeded"}
SEED_GOLDEN = 0x9e3779b97f4a7c15
MASK64 = (1 << 64) - 1


class AgentError(Exception):
    """The agent is not there, or refuses a command"""

    def __init__(self, text, errno=0):
        super().__init__(text)
        self.errno = errno


def mix(x):
    """Word x of the byte streams: mroce_mix() of the agent"""
    x = x + SEED_GOLDEN & MASK64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK64
    x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK64
    return x ^ x >> 31


def pattern(key, length, start=0):
    """What the command 'fill' writes"""
    first, last = start // 8, (start + length + 7) // 8
    raw = b"".join(mix(key + i & MASK64).to_bytes(8, "little") for i in range(first, last))
    return raw[start - 8 * first:start - 8 * first + length]


class Completion:
    """A work completion: id, status and opcode as numbers of the verbs"""

    def __init__(self, text):
        self.id, self.status, self.opcode, self.length, self.imm = \
            [int(number) for number in text.split(",")]

    def __repr__(self):
        return "%d:%s" % (self.id, STATUS.get(self.status, self.status))


class Agent:
    """One session; run() is called while an answer is awaited"""

    def __init__(self, address, port, limit_s=20):
        end = time.monotonic() + limit_s
        while True:
            try:
                self.sock = socket.create_connection((address, port), timeout=5)
                break
            except OSError as error:
                if time.monotonic() > end:
                    raise AgentError("no agent at %s port %d: %s" % (address, port, error)) \
                        from error
                time.sleep(0.05)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setblocking(False)
        self.buffer = b""
        self.run = None
        self.device = self.call("info")

    def fileno(self):
        return self.sock.fileno()

    def read(self):
        """Take what is there. An agent that goes away ends the row."""
        try:
            more = self.sock.recv(65536)
        except BlockingIOError:
            return
        if not more:
            raise AgentError("the agent has closed the connection")
        self.buffer += more

    def ready(self):
        return b"\n" in self.buffer

    def call(self, name, limit_s=60, **arguments):
        """One command. Return: the values of its answer, by name; those without one under None."""
        line = " ".join([name] + ["%s=%s" % pair for pair in arguments.items()])
        self.sock.sendall(line.encode() + b"\n")
        end = time.monotonic() + limit_s
        while not self.ready():
            if time.monotonic() > end:
                raise AgentError("no answer to '%s' within %d s" % (line, limit_s))
            if self.run:
                self.run(0.05)
            else:
                time.sleep(0.001)
                self.read()
        reply, self.buffer = self.buffer.split(b"\n", 1)
        reply = reply.decode().split()
        if reply[0] != "ok":
            raise AgentError("'%s': %s" % (line, " ".join(reply)),
                             int(reply[1]) if len(reply) > 1 else 0)
        values = {None: []}
        for item in reply[1:]:
            key, equals, value = item.partition("=")
            if not equals:
                values[None].append(item)
            else:
                values[key] = value if key in ("gid", "bytes", "state") else int(value)
        return values

    def close(self):
        self.sock.close()


class Region:
    """Registered memory of the device's program"""

    def __init__(self, agent, length, access):
        values = agent.call("mr", len=length, access=access or "-")
        self.agent, self.length = agent, length
        self.handle, self.addr, self.rkey = values["mr"], values["addr"], values["rkey"]

    def release(self):
        self.agent.call("unmr", mr=self.handle)

    def fill(self, key, length=None, off=0, start=0):
        self.agent.call("fill", mr=self.handle, off=off, key=key, start=start,
                        len=self.length - off if length is None else length)

    def differs(self, key, length, off=0, start=0):
        """Offset of the first byte that is not the pattern's, -1: none"""
        return self.agent.call("check", mr=self.handle, off=off, len=length, key=key,
                               start=start)["differs"]

    def put(self, data, off=0):
        self.agent.call("put", mr=self.handle, off=off, len=len(data), bytes=data.hex())

    def read(self, length, off=0):
        return bytes.fromhex(self.agent.call("read", mr=self.handle, off=off, len=length)["bytes"])


class Srq:
    """A shared receive queue of the device's program"""

    def __init__(self, agent, recv_wr):
        self.agent, self.handle = agent, agent.call("srq", recv_wr=recv_wr)["srq"]

    def release(self):
        self.agent.call("unsrq", srq=self.handle)

    def recv(self, region, length, off=0, wr_id=0):
        self.agent.call("recv", srq=self.handle, id=wr_id, mr=region.handle, off=off, len=length)


class DutQp:
    """A queue pair of the device"""

    def __init__(self, agent, **caps):
        values = agent.call("qp", **caps)
        self.agent, self.handle, self.qpn = agent, values["qp"], values["qpn"]
        self.next_id = 1

    def connect(self, gid, qpn, rq_psn, sq_psn, **options):
        """To RTS; the options of both steps, as the agent names them"""
        rtr = ("access", "min_rnr_timer", "dest_rd_atomic", "traffic_class")
        self.agent.call("rtr", qp=self.handle, gid=gid.hex(), qpn=qpn, psn=rq_psn,
                        **{key: options[key] for key in rtr if key in options})
        self.agent.call("rts", qp=self.handle, psn=sq_psn,
                        **{key: value for key, value in options.items() if key not in rtr})

    def post(self, op, region, length, off=0, **more):
        """A send work request. Return: its id."""
        more.setdefault("id", self.next_id)
        self.next_id = more["id"] + 1
        self.agent.call("post", qp=self.handle, op=op, mr=region.handle, off=off, len=length,
                        **more)
        return more["id"]

    def recv(self, region, length, off=0, wr_id=0):
        self.agent.call("recv", qp=self.handle, id=wr_id, mr=region.handle, off=off, len=length)

    def poll(self, count=1, ms=0):
        """Completions, in their order: as many, or those within the time"""
        values = self.agent.call("poll", qp=self.handle, n=count, ms=ms, limit_s=60 + ms / 1000)
        return [Completion(text) for text in values[None]]

    def state(self):
        return self.agent.call("state", qp=self.handle)["state"]

    def destroy(self):
        self.agent.call("destroy", qp=self.handle)
        self.handle = None
