"""Listen for connections."""

import socket
from collections.abc import Callable
from typing import Any

Socket = socket.socket

new_socket: Callable[[int, int, int], socket.socket] = socket.socket
addresses: Callable[..., list[Any]] = socket.getaddrinfo
host_name: Callable[[], str] = socket.gethostname
