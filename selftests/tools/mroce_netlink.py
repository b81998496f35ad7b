#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Speak to the netlink family "mroce" as no proper program would.

  mroce_netlink.py hostile DEVICE     messages that must be refused; "refused N", or a line for each that was not
  mroce_netlink.py ask COMMAND [ATTRIBUTE=TYPE:VALUE ...]
                                      one request; "errno N TEXT" (0: granted). TYPE: u8, u16, u32, u64, str, hex
  mroce_netlink.py stall COMMAND      begin a dump, print READY and never read it
  mroce_netlink.py deaf               join the group, print READY and never read it

COMMAND and ATTRIBUTE are numbers of linux/mroce.h.
"""
import os
import socket
import struct
import sys
import time

NETLINK_GENERIC, GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_MCAST_GROUPS = 1, 2, 7
CTRL_ATTR_MCAST_GRP_ID = 2
SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 270, 1, 10, 11
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP, NLM_F_CAPPED, NLM_F_ACK_TLVS = 1, 4, 0x300, 0x100, 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLA_F_NESTED = 0x8000

DEV_GET, DEV_SET, PLANE_GET, PLANE_NEW, PLANE_DEL, PLANE_SET, CONN_GET, PATH_GET, LINK_CHECK = range(1, 10)
DEV_INDEX, DEV_NAME = 1, 2
DEV_PATHS, DEV_WINDOW, DEV_CC, DEV_ORDERING, DEV_HELD = 7, 8, 9, 10, 18
PLANE_IFINDEX, PLANE_LABEL, PLANE_SPEED = 3, 4, 10
CONN_ID, PATH_CONN, PATH_ID = 3, 4, 5
CHECK_IFINDEX = 1


def attribute(kind, payload):
    return struct.pack('=HH', len(payload) + 4, kind) + payload + bytes(-len(payload) % 4)


def attributes(data):
    """(type, payload) of each"""
    while len(data) >= 4:
        length, kind = struct.unpack_from('=HH', data)
        if length < 4:
            return
        yield kind & 0x3fff, data[4:length]
        data = data[(length + 3) & ~3:]


class Family:
    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.socket.settimeout(20)
        for option in NETLINK_CAP_ACK, NETLINK_EXT_ACK:
            self.socket.setsockopt(SOL_NETLINK, option, 1)
        self.send(GENL_ID_CTRL, NLM_F_REQUEST, CTRL_CMD_GETFAMILY, attribute(CTRL_ATTR_FAMILY_NAME, b'mroce\0'))
        self.id = self.group = 0
        for kind, payload in attributes(self.socket.recv(65536)[20:]):
            if kind == CTRL_ATTR_FAMILY_ID:
                self.id = struct.unpack('=H', payload)[0]
            if kind == CTRL_ATTR_MCAST_GROUPS:
                group = dict(attributes(next(attributes(payload))[1]))
                self.group = struct.unpack('=I', group[CTRL_ATTR_MCAST_GRP_ID])[0]
        if not self.id:
            sys.exit('no family mroce')

    def send(self, kind, flags, command, body, length=None, version=1):
        message = struct.pack('=IHHIIBBH', 20 + len(body) if length is None else length, kind, flags, 1, 0,
                              command, version, 0) + body
        self.socket.send(message)

    def end(self):
        """errno and text of the end of an answer; None when it is no answer"""
        while True:
            try:
                data = self.socket.recv(1 << 17)
            except socket.timeout:
                return None
            while len(data) >= 16:
                length, kind, flags = struct.unpack_from('=IHH', data)
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    error = struct.unpack_from('=i', data, 16)[0]
                    return -error, self.text(kind, flags, data[16:length])
                data = data[(length + 3) & ~3:]

    @staticmethod
    def text(kind, flags, body):
        if not flags & NLM_F_ACK_TLVS:
            return ''
        at = 4
        if kind == NLMSG_ERROR:
            at = 20 if flags & NLM_F_CAPPED else 4 + struct.unpack_from('=I', body, 4)[0]
        return dict(attributes(body[at:])).get(1, b'').rstrip(b'\0').decode()

    def ask(self, command, body=b'', flags=NLM_F_ACK, **how):
        self.send(self.id, NLM_F_REQUEST | flags, command, body, **how)
        return self.end()


def hostile_cases(device):
    """name, command, attributes, flags, whether a text is promised"""
    name = attribute(DEV_NAME, device.encode() + b'\0')
    number = struct.Struct('=I').pack
    yield 'no attributes at all', DEV_GET, b'', NLM_F_ACK, True
    yield 'settings without a device', DEV_SET, attribute(DEV_PATHS, b'\3'), NLM_F_ACK, True
    yield 'nothing to set', DEV_SET, name, NLM_F_ACK, True
    yield 'too many paths', DEV_SET, name + attribute(DEV_PATHS, b'\x21'), NLM_F_ACK, True
    yield 'paths of 4 bytes', DEV_SET, name + attribute(DEV_PATHS, number(3)), NLM_F_ACK, True
    yield 'paths of no bytes', DEV_SET, name + attribute(DEV_PATHS, b''), NLM_F_ACK, True
    yield 'a window of 63 KiB', DEV_SET, name + attribute(DEV_WINDOW, number(63)), NLM_F_ACK, True
    yield 'a window of 1 GiB and more', DEV_SET, name + attribute(DEV_WINDOW, number(1048577)), NLM_F_ACK, True
    yield 'a window of 4 GiB', DEV_SET, name + attribute(DEV_WINDOW, number(4294967295)), NLM_F_ACK, True
    yield 'a window of 2 bytes', DEV_SET, name + attribute(DEV_WINDOW, b'\0\1'), NLM_F_ACK, True
    yield 'no such congestion control', DEV_SET, name + attribute(DEV_CC, b'bbr\0'), NLM_F_ACK, True
    yield 'one without an end', DEV_SET, name + attribute(DEV_CC, b'ecn!'), NLM_F_ACK, True
    yield 'one that is too long', DEV_SET, name + attribute(DEV_CC, b'e' * 64 + b'\0'), NLM_F_ACK, True
    yield 'no such ordering', DEV_SET, name + attribute(DEV_ORDERING, b'\4'), NLM_F_ACK, True
    yield 'good and bad together', DEV_SET, name + attribute(DEV_PATHS, b'\1') + attribute(DEV_CC, b'bbr\0'), NLM_F_ACK, True
    yield 'an attribute that is told only', DEV_SET, name + attribute(DEV_HELD, bytes(8)), NLM_F_ACK, True
    yield 'an attribute there is not', DEV_SET, name + attribute(99, bytes(8)), NLM_F_ACK, True
    yield 'attribute 0', DEV_SET, name + attribute(0, bytes(8)), NLM_F_ACK, True
    yield 'a nested number', DEV_SET, name + attribute(DEV_PATHS | NLA_F_NESTED, b'\1'), NLM_F_ACK, True
    yield 'a device name without an end', DEV_GET, attribute(DEV_NAME, device.encode()), NLM_F_ACK, True
    yield 'a device name of 64 bytes', DEV_GET, attribute(DEV_NAME, b'm' * 64 + b'\0'), NLM_F_ACK, True
    yield 'an empty device name', DEV_GET, attribute(DEV_NAME, b'\0'), NLM_F_ACK, True
    yield 'another index than name', DEV_GET, name + attribute(DEV_INDEX, number(0x7fffffff)), NLM_F_ACK, True
    yield 'a dump of a device there is not', DEV_GET, attribute(DEV_NAME, b'mr99\0'), NLM_F_DUMP, True
    yield 'a dump with an attribute there is not', CONN_GET, attribute(77, bytes(4)), NLM_F_DUMP, True
    yield 'a dump of one connection', CONN_GET, attribute(CONN_ID, number(4000000000)), NLM_F_DUMP, True
    yield 'a dump of one path', PATH_GET, attribute(PATH_ID, b'\1'), NLM_F_DUMP, True
    yield 'a dump of paths of a connection there is not', PATH_GET, attribute(PATH_CONN, number(4000000000)), NLM_F_DUMP, True
    yield 'connection 0', CONN_GET, attribute(CONN_ID, number(0)), NLM_F_ACK, True
    yield 'a connection of 2 bytes', CONN_GET, attribute(CONN_ID, b'\0\1'), NLM_F_ACK, True
    yield 'a connection there is not', CONN_GET, attribute(CONN_ID, number(4000000000)), NLM_F_ACK, True
    yield 'no connection', CONN_GET, name, NLM_F_ACK, True
    yield 'no path', PATH_GET, name, NLM_F_ACK, True
    yield 'a plane without a netdev', PLANE_NEW, name, NLM_F_ACK, True
    yield 'a netdev there is not', PLANE_NEW, name + attribute(PLANE_IFINDEX, number(999999)), NLM_F_ACK, True
    yield 'netdev 0', PLANE_NEW, name + attribute(PLANE_IFINDEX, number(0)), NLM_F_ACK, True
    yield 'netdev -1', PLANE_NEW, name + attribute(PLANE_IFINDEX, number(0xffffffff)), NLM_F_ACK, True
    yield 'a label of 4 bytes', PLANE_NEW, name + attribute(PLANE_LABEL, number(1)), NLM_F_ACK, True
    yield 'a plane there is not', PLANE_DEL, name + attribute(PLANE_IFINDEX, number(999999)), NLM_F_ACK, True
    yield 'a label to remove', PLANE_DEL, name + attribute(PLANE_LABEL, b'\1'), NLM_F_ACK, True
    yield 'the speed of no plane', PLANE_SET, name + attribute(PLANE_SPEED, number(1)), NLM_F_ACK, True
    yield 'no speed', PLANE_SET, name + attribute(PLANE_IFINDEX, number(1)), NLM_F_ACK, True
    yield 'no netdev to check', LINK_CHECK, b'', NLM_F_ACK, True
    yield 'a netdev to check there is not', LINK_CHECK, attribute(CHECK_IFINDEX, number(999999)), NLM_F_ACK, True
    yield 'planes asked for without a dump', PLANE_GET, name, NLM_F_ACK, False
    yield 'a dump of what has none', DEV_SET, name, NLM_F_DUMP, False
    for command in (0, 10, 11, 12, 13, 200, 255):
        yield f'command {command}', command, name, NLM_F_ACK, False
    # what has the wrong length as a whole
    yield 'an attribute longer than the message', DEV_SET, name + struct.pack('=HH', 200, DEV_PATHS) + b'\1\0\0\0', NLM_F_ACK, True
    yield 'an attribute shorter than its head', DEV_SET, name + struct.pack('=HH', 2, DEV_PATHS) + b'\1\0\0\0', NLM_F_ACK, True
    yield 'half an attribute', DEV_SET, name + b'\x08\0', NLM_F_ACK, True


def hostile(device):
    family, refused, bad = Family(), 0, 0
    for name, command, body, flags, text in hostile_cases(device):
        answer = family.ask(command, body, flags)
        if answer and answer[0] > 0 and (answer[1] or not text):
            refused += 1
            continue
        bad += 1
        print(f'not refused as promised: {name}: {answer}')
    # every command with every attribute, too short, of a device there is not
    for command in range(20):
        for kind in range(40):
            for length in (0, 1, 3, 5, 7, 9, 300):
                body = attribute(DEV_NAME, b'mr99\0') + attribute(kind, b'\xff' * length)
                answer = family.ask(command, body, NLM_F_ACK)
                if answer and answer[0] > 0:
                    refused += 1
                else:
                    bad += 1
                    print(f'not refused: command {command} attribute {kind} of {length} bytes: {answer}')
    print(f'refused {refused}')
    return bad


def packed(text):
    kind, _, value = text.partition(':')
    if kind == 'str':
        return value.encode() + b'\0'
    if kind == 'hex':
        return bytes.fromhex(value)
    return struct.pack({'u8': '=B', 'u16': '=H', 'u32': '=I', 'u64': '=Q'}[kind], int(value, 0))


def ask(command, *words):
    body = b''
    for word in words:
        kind, _, value = word.partition('=')
        body += attribute(int(kind), packed(value))
    answer = Family().ask(int(command), body)
    print('no answer' if answer is None else f'errno {answer[0]} {answer[1]}'.rstrip())
    return 0


def never_read(begin):
    family = Family()
    begin(family)
    print('READY', flush=True)
    while os.getppid() != 1:
        time.sleep(0.2)
    return 0


def stall(command):
    return never_read(lambda f: f.send(f.id, NLM_F_REQUEST | NLM_F_DUMP, int(command), b''))


def deaf():
    return never_read(lambda f: f.socket.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, f.group))


if __name__ == '__main__':
    actions = {'hostile': hostile, 'ask': ask, 'stall': stall, 'deaf': deaf}
    if len(sys.argv) < 2 or sys.argv[1] not in actions:
        sys.exit(__doc__)
    sys.exit(1 if actions[sys.argv[1]](*sys.argv[2:]) else 0)
